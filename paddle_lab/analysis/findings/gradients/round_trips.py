"""Values that left for Python and came back as new tensors, or as numbers among an op's arguments.

Nothing in a trace ties what NumPy computed to what it was computed from. A value is taken to have
come back where it was read at the very line, or last before with as many elements.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from paddle_lab.analysis.findings.facts import FORWARD, Facts
from paddle_lab.analysis.findings.place import Place

_NEAR = 32
"""Events between which a value read and a tensor made may belong together."""

_TAKE_ARRAYS = frozenset(("assign_value", "assign_value_"))
_TAKE_NUMBERS = frozenset(("scale", "add", "subtract", "multiply", "divide", "pow", "full"))

# Numbers that code is full of prove nothing.
_COMMON = frozenset(("0.0", "1.0", "-1.0", "0.5", "2.0"))


class Return(NamedTuple):
    """A value's way through Python."""

    read: int
    """Row of ``events``."""
    source: int
    """The tensor that was read."""
    row: int
    """The tensor that was made or written to, -1 for a number."""
    op: int
    """The op that took the number as an argument, -1 for a tensor."""
    event: int
    """Row of ``events`` at which the tensor was made, -1 for a number."""


class RoundTrips:
    """All ways through Python of one trace.

    Parameters
    ----------
    facts
        The record that is asked.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    @cached_property
    def of_source(self) -> dict[int, list[Return]]:
        """Ways by the tensor that was read."""
        return self._by(1)

    @cached_property
    def of_row(self) -> dict[int, list[Return]]:
        """Ways by the tensor that was made."""
        return self._by(2)

    @cached_property
    def of_op(self) -> dict[int, list[Return]]:
        """Ways by the op that took a number."""
        return self._by(3)

    def _by(self, cell: int) -> dict[int, list[Return]]:
        found: dict[int, list[Return]] = {}
        for way in self._ways:
            if way[cell] >= 0:
                found.setdefault(way[cell], []).append(way)
        return found

    @cached_property
    def _ways(self) -> list[Return]:
        facts = self._facts
        tensors = facts.record.events["tensor"]
        reads = [event for event in facts.events("read") if tensors[event] >= 0]
        if not reads:
            return []
        made = [*facts.events("created"), *facts.events("overwritten")]
        ways = [way for event in sorted(made) for way in self._to_tensor(event, reads)]
        return [*ways, *self._to_constants(reads), *self._to_numbers(reads)]

    def _to_tensor(self, event: int, reads: list[int]) -> list[Return]:
        facts, events = self._facts, self._facts.record.events
        row = int(events["tensor"][event])
        if row < 0 or facts.record.text(int(events["detail"][event])) == "parameter":
            return []
        near = reads[bisect_left(reads, event - _NEAR) : bisect_left(reads, event)]
        before = [read for read in near if events["thread"][read] == events["thread"][event]]
        return [
            Return(read, int(events["tensor"][read]), row, -1, event)
            for read in self._alike(before, row, self._place(event))
            if facts.first_value(int(events["tensor"][read])) != facts.first_value(row)
        ]

    def _to_constants(self, reads: list[int]) -> Iterator[Return]:
        """Yield the ways into ops that take an array for an argument: ``paddle.assign``."""
        facts, events = self._facts, self._facts.record.events
        positions = [int(events["ops_before"][read]) for read in reads]
        for op in facts.ops_named(_TAKE_ARRAYS).tolist():
            if facts.outputs(op):
                last = bisect_right(positions, op)
                row = facts.outputs(op)[0]
                for read in self._alike(reads[max(last - _NEAR, 0) : last], row, facts.place(op)):
                    yield Return(read, int(events["tensor"][read]), row, -1, -1)

    def _alike(self, before: list[int], row: int, place: Place) -> list[int]:
        """Return the reads, of those before, whose values a tensor made at a place may hold."""
        size = math.prod(self._facts.shape(row))
        same_line = [read for read in before if self._place(read) == place]
        like = [read for read in before if self._size(read) == size][-1:]
        numbers = [read for read in before if self._size(read) == 1][-size:]
        return same_line or like or (numbers if len(numbers) == size else [])

    def _to_numbers(self, reads: list[int]) -> list[Return]:
        facts, events = self._facts, self._facts.record.events
        takers = self._takers
        ways: list[Return] = []
        for read in reads:
            source = int(events["tensor"][read])
            value = facts.record.text(int(events["detail"][read])).partition(" ")[2]
            if not value:
                continue
            first = int(events["ops_before"][read])
            taken = [] if value in _COMMON else [op for op in takers.get(value, ()) if op >= first]
            if not taken and self._is_next(first, read):
                taken = [first]
            ways.extend(Return(read, source, -1, op, -1) for op in taken)
        return ways

    def _is_next(self, op: int, read: int) -> bool:
        """Tell whether an op right after a read took a number at the very line."""
        facts = self._facts
        if op >= facts.op_count or facts.phase(op) != FORWARD:
            return False
        if facts.op_name(op) not in _TAKE_NUMBERS:
            return False
        return facts.place(op) == self._place(read) and any(
            _is_number(token) for token in _tokens(facts.attributes(op))
        )

    @cached_property
    def _takers(self) -> dict[str, list[int]]:
        record = self._facts.record
        codes = record.ops["attributes"]
        numbers: dict[int, list[str]] = {}
        for code in np.unique(codes).tolist():
            tokens = [one for one in _tokens(record.text(code)) if "." in one or "e" in one]
            if tokens:
                numbers[code] = tokens
        takers: dict[str, list[int]] = {}
        for op in np.flatnonzero(np.isin(codes, list(numbers))).tolist():
            for token in numbers[int(codes[op])]:
                takers.setdefault(token, []).append(op)
        return takers

    def _size(self, event: int) -> int:
        return math.prod(self._facts.shape(int(self._facts.record.events["tensor"][event])))

    def _place(self, event: int) -> Place:
        return self._facts.place_of_stack(int(self._facts.record.events["stack"][event]))


def _tokens(attributes: str) -> list[str]:
    tokens = (token.partition("=")[2] or token for token in attributes.split(", "))
    return [token.strip("[]") for token in tokens]


def _is_number(token: str) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return "." in token or "e" in token
