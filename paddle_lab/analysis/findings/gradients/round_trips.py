"""Values that left for Python and came back as new tensors, or as numbers in an op's arguments.

A trace does not record what NumPy computed from which value. A tensor is taken to hold a value
that was read on the same line; otherwise, the last one read before with as many elements.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from paddle_lab.analysis.findings.facts import FORWARD, Event, Facts
from paddle_lab.analysis.findings.place import Place

_ROW = attrgetter("row")
_NEAR = 32
"""A read and the tensor made from it are at most this many events apart."""

_TAKE_ARRAYS = frozenset(("assign_value", "assign_value_"))
_TAKE_NUMBERS = frozenset(("scale", "add", "subtract", "multiply", "divide", "pow", "full"))

# Numbers that are common in code prove nothing.
_COMMON = frozenset(("0.0", "1.0", "-1.0", "0.5", "2.0"))


class Return(NamedTuple):
    """A value's way through Python."""

    read: Event
    source: int
    """The tensor that was read."""
    row: int
    """The tensor that was made or written to, -1 for a number."""
    op: int
    """The op that took the number as an argument, -1 for a tensor."""
    made: Event | None
    """The event at which the tensor was made, None for a number."""


class RoundTrips:
    """All ways through Python of one trace."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    @cached_property
    def of_source(self) -> dict[int, list[Return]]:
        """Ways by the tensor that was read."""
        return self._by(attrgetter("source"))

    @cached_property
    def of_row(self) -> dict[int, list[Return]]:
        """Ways by the tensor that was made."""
        return self._by(attrgetter("row"))

    @cached_property
    def of_op(self) -> dict[int, list[Return]]:
        """Ways by the op that took a number."""
        return self._by(attrgetter("op"))

    def _by(self, end: Callable[[Return], int]) -> dict[int, list[Return]]:
        found: dict[int, list[Return]] = {}
        for way in self._ways:
            if end(way) >= 0:
                found.setdefault(end(way), []).append(way)
        return found

    @cached_property
    def _ways(self) -> list[Return]:
        facts = self._facts
        reads = [event for event in facts.events("read") if event.tensor >= 0]
        if not reads:
            return []
        made = sorted([*facts.events("created"), *facts.events("overwritten")])
        ways = [way for event in made for way in self._to_tensor(event, reads)]
        return [*ways, *self._to_constants(reads), *self._to_numbers(reads)]

    def _to_tensor(self, event: Event, reads: list[Event]) -> Iterator[Return]:
        facts, row = self._facts, event.tensor
        if row < 0 or event.detail == "parameter":
            return
        first = bisect_left(reads, event.row - _NEAR, key=_ROW)
        near = reads[first : bisect_left(reads, event.row, key=_ROW)]
        before = [read for read in near if read.thread == event.thread]
        for read in self._alike(before, row, facts.place_of_stack(event.stack)):
            if facts.first_value(read.tensor) != facts.first_value(row):
                yield Return(read, read.tensor, row, -1, event)

    def _to_constants(self, reads: list[Event]) -> Iterator[Return]:
        """Yield values that came back as the array argument of an op, such as ``paddle.assign``."""
        facts = self._facts
        for op in facts.ops_named(_TAKE_ARRAYS).tolist():
            for row in facts.outputs(op)[:1]:
                last = bisect_right(reads, op, key=attrgetter("ops_before"))
                for read in self._alike(reads[max(last - _NEAR, 0) : last], row, facts.place(op)):
                    yield Return(read, read.tensor, row, -1, None)

    def _alike(self, before: list[Event], row: int, place: Place) -> list[Event]:
        """Return the reads, of those before, whose values a tensor made at a place may hold."""
        facts, size = self._facts, math.prod(self._facts.shape(row))
        same_line = [read for read in before if facts.place_of_stack(read.stack) == place]
        sizes = [math.prod(facts.shape(read.tensor)) for read in before]
        like = [read for read, of in zip(before, sizes, strict=True) if of == size][-1:]
        numbers = [read for read, of in zip(before, sizes, strict=True) if of == 1][-size:]
        return same_line or like or (numbers if len(numbers) == size else [])

    def _to_numbers(self, reads: list[Event]) -> Iterator[Return]:
        for read in reads:
            value = read.detail.partition(" ")[2]
            if not value:
                continue
            takers = () if value in _COMMON else self._takers.get(value, ())
            taken = [op for op in takers if op >= read.ops_before]
            if not taken and self._takes_at_once(read):
                taken = [read.ops_before]
            for op in taken:
                yield Return(read, read.tensor, -1, op, None)

    def _takes_at_once(self, read: Event) -> bool:
        """Tell whether the op right after a read took a number on the same line."""
        facts, op = self._facts, read.ops_before
        return (
            op < facts.op_count
            and facts.phase(op) == FORWARD
            and facts.op_name(op) in _TAKE_NUMBERS
            and facts.place(op) == facts.place_of_stack(read.stack)
            and any(map(_is_number, _tokens(facts.attributes(op))))
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


def _tokens(attributes: str) -> list[str]:
    tokens = (token.partition("=")[2] or token for token in attributes.split(", "))
    return [token.strip("[]") for token in tokens]


def _is_number(token: str) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return "." in token or "e" in token
