"""What checks ask a record, answered once: a file a subject."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from paddle_lab.analysis.findings.facts.backward import BackwardFacts
from paddle_lab.analysis.findings.facts.columns import walk
from paddle_lab.analysis.findings.facts.events import Event
from paddle_lab.analysis.findings.facts.ops import BACKWARD, FORWARD, OPTIMIZER
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
from paddle_lab.trace.record import Record

__all__ = [
    "ACTIVATION",
    "BACKWARD",
    "BUFFER",
    "EXTERNAL",
    "FORWARD",
    "GRADIENT",
    "OPTIMIZER",
    "PARAMETER",
    "Event",
    "Facts",
    "shape_of",
    "walk",
]

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_Answer = TypeVar("_Answer")


class Facts(TensorFacts, BackwardFacts, StepFacts):
    """A record with answer tables, and indexes over it that checks share.

    Ops, tensors, grad nodes, backward calls and scopes are keys: rows of the record's tables.
    """

    def __init__(self, record: Record) -> None:
        super().__init__(record)
        self._answers: dict[object, Any] = {}

    def answer(self, of: Callable[[Facts], _Answer]) -> _Answer:
        """Return what a class or a function makes of these facts, made but once for all checks."""
        if of not in self._answers:
            self._answers[of] = of(self)
        found: _Answer = self._answers[of]
        return found

    def leaves_of_nodes(self, is_node: npt.NDArray[np.bool_]) -> frozenset[int]:
        """Return the tensors, as first values, whose gradients some grad nodes accumulate."""
        leaves = self.record.grad_nodes["parameter"][is_node]
        return frozenset(map(self.first_value, leaves[leaves >= 0].tolist()))
