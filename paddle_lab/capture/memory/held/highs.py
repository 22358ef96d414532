"""How high memory stood where a trace does not keep all blocks: stretches of time, each its high.

A stretch knows the most that was allocated in it, of kept blocks and others. In the end that is
told by one block a stretch, of what the kept ones fall short of. So the running total has its true
highs everywhere, its peak in its true moment, and is exact where no stretch is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.memory.log.events import ALLOCATE, FREE, AllocatorEvents, Int64s

Mask = npt.NDArray[np.bool_]
Interval = tuple[int, int]
"""From a moment on, until and without another, by ``perf_counter_ns``."""

_AT_ONCE = 64
_MOST = 512


class Highs:
    """The stretches of one trace."""

    def __init__(self) -> None:
        self.covered: list[Interval] = []
        """All stretches together: ascending, and apart from each other."""
        self._stretches: dict[int, Int64s] = {}
        """By place, rows of start, end and bytes."""
        self._last_totals: dict[int, list[Interval]] = {}
        """By place, the ends of what was covered, and what was allocated then."""

    def cover(self, covered: Sequence[Interval], events: AllocatorEvents, totals: Int64s) -> None:
        """Add what is not covered yet.

        Parameters
        ----------
        covered
            Ascending, and apart from each other.
        events
            All that are held, by time.
        totals
            What was allocated after each of them.
        """
        added = _without(covered, self.covered)
        changes = (events.kind == ALLOCATE) | (events.kind == FREE)
        for place in range(len(events.places)):
            its_own = np.flatnonzero(changes & (events.place == place))
            times, its_totals = events.time_ns[its_own], totals[its_own]
            parts = [self._stretches.get(place, np.empty((0, 3), np.int64))]
            for interval in added:
                count = max(1, _AT_ONCE // len(added))
                parts.append(self._stretches_of(place, interval, times, its_totals, count))
            stretches = np.concatenate(parts)
            self._stretches[place] = _fewer(stretches[np.argsort(stretches[:, 0])])
        self.covered = joined([*covered, *self.covered])

    def is_covered(self, times_ns: Int64s) -> Mask:
        """Tell which moments lie in a stretch, bool, shape ``[moments]``."""
        return is_in(times_ns, self.covered)

    def shortfalls(self, place: int, times_ns: Int64s, totals: Int64s, start_bytes: int) -> Int64s:
        """Return what kept blocks fall short of: rows of start, end and bytes.

        Parameters
        ----------
        place
            The place's number.
        times_ns, totals
            The running total of the kept blocks: when it changed, and to what.
        start_bytes
            What it was before.
        """
        rows = []
        values = np.append(start_bytes, totals)
        for start, end, high in self._stretches.get(place, np.empty((0, 3), np.int64)).tolist():
            first = int(np.searchsorted(times_ns, start, side="right"))
            last = int(np.searchsorted(times_ns, end, side="left"))
            missing = high - int(values[first : last + 1].max())
            if missing > 0:
                rows.append((start, end, missing))
        return np.array(rows, np.int64).reshape(-1, 3)

    def _stretches_of(
        self, place: int, interval: Interval, times: Int64s, totals: Int64s, count: int
    ) -> Int64s:
        start, end = interval
        first, last = np.searchsorted(times, interval, side="left").tolist()
        ends = self._last_totals.setdefault(place, [])
        known = [one for one in ends if one[0] <= start]
        if first:
            known.append((int(times[first - 1]), int(totals[first - 1])))
        inside, its_totals = times[first:last], totals[first:last]
        if known:  # what stood there when the interval began
            inside = np.append(start, inside)
            its_totals = np.append(max(known)[1], its_totals)
        if not len(inside):
            return np.empty((0, 3), np.int64)
        ends.append((end, int(its_totals[-1])))
        # The highest moment has a stretch of its own, and so keeps its time.
        highest = int(np.argmax(its_totals))
        marks = np.linspace(0, len(inside) - 1, count + 1).astype(np.int64)
        borders = np.unique(np.append(inside[marks], inside[highest : highest + 2]))
        stretch = np.searchsorted(borders, inside, side="right") - 1
        highs = np.zeros(len(borders), np.int64)
        np.maximum.at(highs, stretch, its_totals)
        return np.stack((borders, np.append(borders[1:], end), highs), axis=1)


def joined(intervals: Sequence[Interval]) -> list[Interval]:
    """Return what intervals that may overlap cover together."""
    found: list[Interval] = []
    for start, end in sorted(intervals):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def is_in(times_ns: Int64s, intervals: Sequence[Interval]) -> Mask:
    """Tell which moments lie in an interval, bool, shape ``[moments]``; intervals may overlap."""
    bounds = np.array(sorted(intervals), np.int64).reshape(-1, 2)
    reach = np.append(np.maximum.accumulate(bounds[:, 1]), 0)
    found: Mask = times_ns < reach[np.searchsorted(bounds[:, 0], times_ns, side="right") - 1]
    return found


def _without(intervals: Sequence[Interval], others: Sequence[Interval]) -> list[Interval]:
    """Return the parts of intervals that no other covers; each of the two is ascending."""
    left: list[Interval] = []
    position = 0
    for start, end in intervals:
        begun = start
        while position < len(others) and others[position][1] <= start:
            position += 1
        for other_start, other_end in others[position:]:
            if other_start >= end:
                break
            if other_start > begun:
                left.append((begun, other_start))
            begun = max(begun, other_end)
        if begun < end:
            left.append((begun, end))
    return left


def _fewer(stretches: Int64s) -> Int64s:
    """Join neighbours two by two while there are too many; the highest stays as it is."""
    while len(stretches) > _MOST:
        start, end, high = stretches.T
        highest = int(np.argmax(high))
        is_second = (np.arange(len(start)) % 2 == 1) & (start == np.append(-1, end[:-1]))
        is_second[highest : highest + 2] = False
        if not is_second.any():
            break
        group = np.cumsum(~is_second) - 1
        first = np.flatnonzero(~is_second)
        joined = np.zeros(len(first), np.int64)
        np.maximum.at(joined, group, high)
        ends = np.append(end[first[1:] - 1], end[-1])
        stretches = np.stack((start[first], ends, joined), axis=1)
    return stretches
