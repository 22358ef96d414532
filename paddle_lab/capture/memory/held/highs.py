"""Peaks of memory at times when a trace does not keep all blocks: stretches with their peaks.

The peak of a stretch is the most memory allocated in it, by kept and forgotten blocks. At the end
each stretch gets one block with the bytes that the kept blocks lack. So the running total has its
true peak in every stretch, and its maximum at the true moment. Outside of stretches it is exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paddle_lab.capture.memory.log.events import FREE, AllocatorEvents, Int64s, Mask

Interval = tuple[int, int]
"""Start and end, by ``perf_counter_ns``; the end is excluded."""

_AT_ONCE = 64
_MOST = 512
_OPEN = np.iinfo(np.int64).max


class Highs:
    """The stretches of one trace."""

    def __init__(self) -> None:
        self._covered: list[Interval] = []
        """The union of all stretches: ascending, without overlap."""
        self._stretches: dict[int, Int64s] = {}
        """For each place, rows of start, end and bytes. A row may extend beyond ``_covered``."""

    def cover(self, covered: Sequence[Interval], events: AllocatorEvents) -> None:
        """Add stretches for the intervals that are not covered yet.

        Parameters
        ----------
        covered
            Intervals.
        events
            All held events, by time, with the memory allocated after each.
        """
        is_change = events.kind <= FREE
        is_new = is_change & is_in(events.time_ns, covered) & ~self.is_covered(events.time_ns)
        for place in np.unique(events.place[is_new]).tolist():
            here = np.flatnonzero(is_change & (events.place == place))
            start_ns = events.time_ns[here]
            known = self._stretches.get(place, np.empty((0, 3), np.int64))
            next_known = np.searchsorted(known[:, 0], start_ns, side="right")
            end_ns = np.append(start_ns[1:], _OPEN)
            end_ns = np.minimum(end_ns, np.append(known[:, 0], _OPEN)[next_known])
            rows = np.stack((start_ns, end_ns, events.allocated_bytes[here]), axis=1)
            # If several events have the same time, the last one counts.
            rows = _fewer(rows[is_new[here] & (start_ns < end_ns)], _AT_ONCE)
            rows = np.concatenate((known, rows))
            rows = rows[np.argsort(rows[:, 0])]
            rows[:-1, 1] = np.minimum(rows[:-1, 1], rows[1:, 0])
            self._stretches[place] = _fewer(rows, _MOST)
        self._covered = joined([*covered, *self._covered])

    def is_covered(self, times_ns: Int64s) -> Mask:
        """Return which moments are in a stretch, bool, shape ``[moments]``."""
        return is_in(times_ns, self._covered)

    def shortfalls(self, place: int, times_ns: Int64s, totals: Int64s, start_bytes: int) -> Int64s:
        """Return the bytes that the kept blocks lack: rows of start, end and bytes.

        Parameters
        ----------
        place
            The place's number.
        times_ns, totals
            When the running total of the kept blocks changed, and its new values.
        start_bytes
            The running total before the first change.
        """
        rows = []
        values = np.append(start_bytes, totals)
        ends = np.array([end for _, end in self._covered])
        for start, end, high in self._stretches.get(place, np.empty((0, 3), np.int64)).tolist():
            until = min(end, int(ends[np.searchsorted(ends, start, side="right")]))
            first = int(np.searchsorted(times_ns, start, side="right"))
            last = int(np.searchsorted(times_ns, until, side="left"))
            missing = high - int(values[first : last + 1].max())
            if missing > 0:
                rows.append((start, until, missing))
        return np.array(rows, np.int64).reshape(-1, 3)


def joined(intervals: Sequence[Interval]) -> list[Interval]:
    """Return the union of intervals, ascending and without overlap."""
    found: list[Interval] = []
    for start, end in sorted(intervals):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def is_in(times_ns: Int64s, intervals: Sequence[Interval]) -> Mask:
    """Return which moments are in an interval, bool, shape ``[moments]``."""
    borders = np.array(joined(intervals), np.int64).ravel()
    found: Mask = np.searchsorted(borders, times_ns, side="right") % 2 == 1
    return found


def _fewer(rows: Int64s, most: int) -> Int64s:
    """Merge neighbours if there are too many stretches, except the one with the highest peak."""
    if len(rows) <= most:
        return rows
    start, end, high = rows.T
    highest = int(np.argmax(high))
    is_first = np.arange(len(rows)) % -(-len(rows) // most) == 0
    is_first[1:] |= start[1:] != end[:-1]
    is_first[highest : highest + 2] = True
    first = np.flatnonzero(is_first)
    last = np.append(first[1:], len(rows)) - 1
    return np.stack((start[first], end[last], np.maximum.reduceat(high, first)), axis=1)
