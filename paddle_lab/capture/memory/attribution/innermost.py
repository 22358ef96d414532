"""Which op, backward call or grad node was running at a moment, in each thread."""

from __future__ import annotations

import numpy as np

from paddle_lab.capture.memory.log.events import Int64s


def innermost(
    time_ns: Int64s, thread: Int64s, start_ns: Int64s, end_ns: Int64s, own_thread: Int64s
) -> Int64s:
    """Return the innermost op (or call, or node) that was running at each moment, or -1.

    Parameters
    ----------
    time_ns, thread
        Moments, shape ``[moments]``.
    start_ns, end_ns, own_thread
        Ops on the same clock, shape ``[ops]``. In one thread they nest.

    Returns
    -------
    numpy.ndarray
        Positions of ops, shape ``[moments]``.
    """
    found = np.full(len(time_ns), -1, dtype=np.int64)
    for number in np.unique(thread):
        moments = np.flatnonzero(thread == number)
        ops = np.flatnonzero(own_thread == number)
        # If two start at the same time, the one that ends first is inside the other.
        ops = ops[np.lexsort((-end_ns[ops], start_ns[ops]))]
        starts, ends = start_ns[ops], np.append(end_ns[ops], np.iinfo(np.int64).max)
        around = _enclosing(ends[:-1], starts)
        candidates = np.searchsorted(starts, time_ns[moments], side="right") - 1
        while (is_over := ends[candidates] < time_ns[moments]).any():
            candidates = np.where(is_over, around[candidates], candidates)
        found[moments] = np.append(ops, -1)[candidates]
    return found


def _enclosing(ends: Int64s, starts: Int64s) -> Int64s:
    """Return for each of the intervals, sorted by start, the innermost one around it, or -1."""
    around = np.full(len(ends), -1, dtype=np.int64)
    if np.all(ends[:-1] < ends[1:]):  # the usual case: one op after the other
        return around
    open_intervals: list[int] = []
    end_list = ends.tolist()
    for position, (start, end) in enumerate(zip(starts.tolist(), end_list, strict=True)):
        # An interval that ends before this one does is not around it, whether or not they touch.
        while open_intervals and end_list[open_intervals[-1]] < max(start, end):
            open_intervals.pop()
        if open_intervals:
            around[position] = open_intervals[-1]
        open_intervals.append(position)
    return around
