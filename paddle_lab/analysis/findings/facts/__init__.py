"""Facts about a record for checks: ops, tensors, grad nodes and events, by row number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from paddle_lab.analysis.findings.facts.backward import BackwardFacts
from paddle_lab.analysis.findings.facts.ops import BACKWARD, FORWARD, OPTIMIZER
from paddle_lab.analysis.findings.facts.tensors import (
    ACTIVATION,
    BUFFER,
    EXTERNAL,
    GRADIENT,
    PARAMETER,
)
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import EVENT_KINDS
from paddle_lab.trace.trees import walk

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
    "walk",
]

_Answer = TypeVar("_Answer")


class Event(NamedTuple):
    """A row of ``events``; -1 means no tensor, scope or stack."""

    row: int
    tensor: int
    scope: int
    stack: int
    ops_before: int
    """How many ops had been recorded."""
    thread: int
    detail: str


class Facts(BackwardFacts):
    """A record with answer tables, and functions that all checks use to look up facts."""

    def __init__(self, record: Record) -> None:
        super().__init__(record)
        self._answers: dict[object, Any] = {}
        self._events: dict[str, list[Event]] = {}

    def answer(self, of: Callable[[Facts], _Answer]) -> _Answer:
        """Return the answer that a class or a function computes from these facts, computed once."""
        if of not in self._answers:
            self._answers[of] = of(self)
        found: _Answer = self._answers[of]
        return found

    def events(self, kind: str) -> list[Event]:
        """Return the events of one kind, in order."""
        if kind not in self._events:
            table, text = self.record.events, self.record.text
            rows = np.flatnonzero(table["kind"] == EVENT_KINDS.index(kind))
            columns = [table[name][rows].tolist() for name in Event._fields[1:]]
            self._events[kind] = [
                Event._make((row, *numbers, text(detail)))
                for row, *numbers, detail in zip(rows.tolist(), *columns, strict=True)
            ]
        return self._events[kind]
