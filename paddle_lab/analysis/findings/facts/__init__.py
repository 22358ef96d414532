"""What checks ask a record, answered once: a file a subject."""

from __future__ import annotations

from paddle_lab.analysis.findings.facts.backward import BackwardFacts
from paddle_lab.analysis.findings.facts.ops import BACKWARD, FORWARD, OPTIMIZER, OpFacts
from paddle_lab.analysis.findings.facts.places import PlaceFacts
from paddle_lab.analysis.findings.facts.steps import StepFacts
from paddle_lab.analysis.findings.facts.tensors import (
    ACTIVATION,
    BUFFER,
    EXTERNAL,
    GRADIENT,
    PARAMETER,
    TensorFacts,
    shape_of,
)

__all__ = [
    "ACTIVATION",
    "BACKWARD",
    "BUFFER",
    "EXTERNAL",
    "FORWARD",
    "GRADIENT",
    "OPTIMIZER",
    "PARAMETER",
    "Facts",
    "shape_of",
]


class Facts(OpFacts, TensorFacts, BackwardFacts, StepFacts, PlaceFacts):
    """A record with answer tables, and indexes over it that checks share.

    Ops, tensors and grad nodes are keys: rows of the record's tables.
    """
