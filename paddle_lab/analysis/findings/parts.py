"""The names with which checks are written, from one module."""

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import (
    ACTIVATION,
    BUFFER,
    FORWARD,
    GRADIENT,
    OPTIMIZER,
    PARAMETER,
    Event,
    Facts,
    walk,
)
from paddle_lab.analysis.findings.facts.training import (
    AFFINE,
    LOSSES,
    PASSING,
    Called,
    Step,
    Training,
)
from paddle_lab.analysis.findings.finding import (
    Found,
    Mark,
    Place,
    Severity,
    found,
    warning,
)
from paddle_lab.trace.limit import KEEPS

__all__ = [
    "ACTIVATION",
    "AFFINE",
    "BUFFER",
    "FORWARD",
    "GRADIENT",
    "KEEPS",
    "LOSSES",
    "OPTIMIZER",
    "PARAMETER",
    "PASSING",
    "Called",
    "Check",
    "Event",
    "Facts",
    "Found",
    "Mark",
    "Place",
    "Severity",
    "Step",
    "Training",
    "found",
    "walk",
    "warning",
]
