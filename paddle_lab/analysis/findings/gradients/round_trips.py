"""Values that left Paddle for Python and came back as new tensors or as arguments of ops.

A trace does not record what NumPy computes. So the origin of a new tensor is guessed: a value that
was read on the same line, or else the last value with as many elements that was read before.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from paddle_lab.analysis.findings.facts import FORWARD, Event, Facts
from paddle_lab.analysis.findings.finding import Place

_NEAR = 32
"""Between a read and the tensor made from the values are at most this many events."""

_TAKE_ARRAYS = frozenset(("assign_value", "assign_value_"))
_TAKE_NUMBERS = frozenset(("scale", "add", "subtract", "multiply", "divide", "pow", "full"))
_FRACTION = re.compile(r"(?<![\w.])-?\d+(?:\.\d*)?(?:e[+-]?\d+)?(?![\w.])")

# Such numbers are common in code. They do not show that a value came back.
_COMMON = frozenset(("0.0", "1.0", "-1.0", "0.5", "2.0"))


class RoundTrip(NamedTuple):
    """A value that Python read and that came back as a tensor or as a number."""

    read: Event
    row: int
    """The tensor that was made or written to, -1 for a number."""
    op: int
    """The op that took the number as an argument, -1 for a tensor."""
    made: Event | None
    """The event at which the tensor was made, None for a number."""


class RoundTrips:
    """All round trips in one trace, by the tensor read, by the tensor made, and by the op."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._reads = [event for event in facts.events("read") if event.tensor >= 0]
        trips = [*self._to_tensors(), *self._to_numbers()] if self._reads else []
        self.of_source, self.of_row, self.of_op = (
            _by(attrgetter(end), trips) for end in ("read.tensor", "row", "op")
        )

    def _to_tensors(self) -> Iterator[RoundTrip]:
        facts, reads = self._facts, self._reads
        for event in sorted([*facts.events("created"), *facts.events("overwritten")]):
            if event.tensor < 0 or event.detail == "parameter":
                continue
            first, last = (
                bisect_left(reads, row, key=attrgetter("row"))
                for row in (event.row - _NEAR, event.row)
            )
            near = [read for read in reads[first:last] if read.thread == event.thread]
            for read in self._alike(near, event.tensor, facts.place_of_stack(event.stack)):
                if facts.first_value(read.tensor) != facts.first_value(event.tensor):
                    yield RoundTrip(read, event.tensor, -1, event)
        # Some ops take an array as an argument, such as ``paddle.assign``.
        for op in facts.ops_named(_TAKE_ARRAYS):
            last = bisect_right(reads, op, key=attrgetter("ops_before"))
            for row in facts.outputs(op)[:1]:
                for read in self._alike(reads[max(last - _NEAR, 0) : last], row, facts.place(op)):
                    yield RoundTrip(read, row, -1, None)

    def _alike(self, before: list[Event], row: int, place: Place) -> list[Event]:
        """Return the earlier reads that may have supplied the values of a new tensor."""
        facts, size = self._facts, math.prod(self._facts.shape(row))
        same_line = [read for read in before if facts.place_of_stack(read.stack) == place]
        of_size: dict[int, list[Event]] = {}
        for read in before:
            of_size.setdefault(math.prod(facts.shape(read.tensor)), []).append(read)
        numbers = of_size.get(1, [])[-size:]
        return same_line or of_size.get(size, [])[-1:] or (numbers if len(numbers) == size else [])

    def _to_numbers(self) -> Iterator[RoundTrip]:
        takers: dict[str, list[int]] = {}
        values = {read.detail.partition(" ")[2] for read in self._reads} - {""}
        for op in range(self._facts.op_count) if values else ():
            for number in values.intersection(_numbers(self._facts.attributes(op))):
                takers.setdefault(number, []).append(op)
        for read in self._reads:
            value = read.detail.partition(" ")[2]
            known = [] if value in _COMMON else takers.get(value, [])
            taken = [op for op in known if op >= read.ops_before]
            if value and not taken and self._takes_at_once(read):
                taken = [read.ops_before]
            for op in taken:
                yield RoundTrip(read, -1, op, None)

    def _takes_at_once(self, read: Event) -> bool:
        """Tell whether the next op after a read is on the same line and has a number argument."""
        facts, op = self._facts, read.ops_before
        return (
            op < facts.op_count
            and facts.phase(op) == FORWARD
            and facts.op_name(op) in _TAKE_NUMBERS
            and facts.place(op) == facts.place_of_stack(read.stack)
            and bool(_numbers(facts.attributes(op)))
        )


@lru_cache(maxsize=4096)
def _numbers(attributes: str) -> list[str]:
    """Return the numbers in an op's arguments that have a fraction or an exponent."""
    return [text for text in _FRACTION.findall(attributes) if not text.lstrip("-").isdigit()]


def _by(end: Callable[[RoundTrip], int], trips: list[RoundTrip]) -> dict[int, list[RoundTrip]]:
    found: dict[int, list[RoundTrip]] = {}
    for trip in trips:
        if end(trip) >= 0:
            found.setdefault(end(trip), []).append(trip)
    return found
