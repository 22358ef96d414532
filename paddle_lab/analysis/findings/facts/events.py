"""What the traced code did besides ops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paddle_lab.analysis.findings.facts.columns import RecordColumns
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import EVENT_KINDS


class Event(NamedTuple):
    """A row of ``events``; -1 stands for no tensor, scope or stack."""

    row: int
    tensor: int
    scope: int
    stack: int
    ops_before: int
    """How many ops had been recorded."""
    thread: int
    detail: str


class EventFacts(RecordColumns):
    """Events by their kind, in order."""

    def __init__(self, record: Record) -> None:
        super().__init__(record)
        self._events: dict[str, list[Event]] = {}

    def events(self, kind: str) -> list[Event]:
        """Return the events of one kind, in order."""
        if kind not in self._events:
            table = self.record.events
            rows = np.flatnonzero(table["kind"] == EVENT_KINDS.index(kind))
            names = ("tensor", "scope", "stack", "ops_before", "thread", "detail")
            columns = (rows.tolist(), *(table[name][rows].tolist() for name in names))
            self._events[kind] = [
                Event._make((*numbers, self.record.text(detail)))
                for *numbers, detail in zip(*columns, strict=True)
            ]
        return self._events[kind]
