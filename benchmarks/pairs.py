"""Measures plain and other steps alternately: plain, other, other, plain; then the reverse.

Such a group of four gives one ratio, from steps that ran one right after the other: a machine that
becomes slower affects both alike. The result is the median of the ratios, and its 95 % confidence
interval from order statistics. Order statistics only assume that groups are independent.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import comb, inf
from time import perf_counter, process_time
from typing import Any, NamedTuple

Work = Callable[[], Any]
Guard = Callable[[], AbstractContextManager[Any]]


class Interval(NamedTuple):
    """A median and its 95 % confidence interval."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.3f} [{self.low:.3f}, {self.high:.3f}]"

    def text(self, scale: float = 1.0) -> str:
        """Return the interval in another unit, with two digits."""
        median, low, high = (value * scale for value in self)
        return f"{median:.2f} [{low:.2f}, {high:.2f}]"


class Step(NamedTuple):
    """The seconds per step of one turn. A turn is several steps of one kind."""

    wall_s: float
    cpu_s: float
    """CPU time of all threads of the process."""


class Pairs(NamedTuple):
    """The results of the groups of four turns; each entry is the mean of a group's two turns."""

    plain: list[Step]
    other: list[Step]
    least_cpu_s: dict[str, float]
    """The least of all single turns, plain and other: a step that nothing disturbed."""

    @property
    def least_added_s(self) -> float:
        """The CPU time that the other way adds to a step, taken from the least disturbed groups."""
        return self.least_cpu_s["other"] - self.least_cpu_s["plain"]

    def ratio(self, clock: str) -> Interval:
        """Return the ratio of the other way's time to plain time: ``"wall_s"`` or ``"cpu_s"``."""
        return median_interval(
            [
                getattr(other, clock) / getattr(plain, clock)
                for plain, other in zip(self.plain, self.other, strict=True)
            ]
        )

    def plain_s(self, clock: str) -> float:
        """Return the median time of a plain step."""
        return statistics.median(getattr(plain, clock) for plain in self.plain)


def in_pairs(guard: Guard, work: Work, *, groups: int, runs: int = 1) -> Pairs:
    """Run steps alternately inside and outside of a guard.

    Parameters
    ----------
    guard
        The guard of the other way; entering and leaving it are not counted.
    work
        One step.
    groups
        How many groups of four turns; at least six are needed for an interval.
    runs
        How many steps per turn: a turn should take some milliseconds.
    """
    for one in (nullcontext, guard, guard):  # objects made on first use
        _turn(one, work, runs)
    found = Pairs([], [], {"plain": inf, "other": inf})
    for group in range(groups):
        order = (nullcontext, guard) if group % 2 else (guard, nullcontext)
        turns = [_turn(one, work, runs) for one in (*order, *reversed(order))]
        outer, inner = _mean(turns[0], turns[3]), _mean(turns[1], turns[2])
        plain, other = (outer, inner) if group % 2 else (inner, outer)
        found.plain.append(plain)
        found.other.append(other)
        ways = ("plain", "other") if group % 2 else ("other", "plain")
        for way, turn in zip((*ways, *reversed(ways)), turns, strict=True):
            found.least_cpu_s[way] = min(found.least_cpu_s[way], turn.cpu_s)
    return found


def median_interval(values: Sequence[float]) -> Interval:
    """Return the median and its 95 % interval; with five values or fewer, the whole range."""
    ordered, count = sorted(values), len(values)
    below, rank = 0.0, 0
    while rank < count // 2:
        below += comb(count, rank) / 2**count
        if below > 0.025:
            break
        rank += 1
    outer = max(rank - 1, 0)
    return Interval(statistics.median(ordered), ordered[outer], ordered[count - 1 - outer])


def _turn(guard: Guard, work: Work, runs: int) -> Step:
    gc.collect()  # garbage of an earlier trace must not count for this turn
    with guard():
        wall_s, cpu_s = perf_counter(), process_time()
        for _ in range(runs):
            work()
        return Step((perf_counter() - wall_s) / runs, (process_time() - cpu_s) / runs)


def _mean(first: Step, second: Step) -> Step:
    return Step((first.wall_s + second.wall_s) / 2, (first.cpu_s + second.cpu_s) / 2)
