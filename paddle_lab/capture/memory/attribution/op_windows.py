"""Which op was running at a moment, in each thread."""

from __future__ import annotations

import numpy as np

from paddle_lab.capture.memory.log.events import Int64s

NO_OP = -1


def ops_at(
    time_ns: Int64s, thread: Int64s, op_start_ns: Int64s, op_end_ns: Int64s, op_thread: Int64s
) -> Int64s:
    """Return the innermost op that was running at each moment, or -1.

    Parameters
    ----------
    time_ns, thread
        Moments, shape ``[moments]``.
    op_start_ns, op_end_ns, op_thread
        Ops on the same clock, shape ``[ops]``. In one thread they nest.

    Returns
    -------
    numpy.ndarray
        Positions of ops, shape ``[moments]``.
    """
    found = np.full(len(time_ns), NO_OP, dtype=np.int64)
    for number in np.unique(thread):
        moments = np.flatnonzero(thread == number)
        ops = np.flatnonzero(op_thread == number)
        if not len(ops):
            continue
        # Of two that start at once, the one that ends first is inside.
        ops = ops[np.lexsort((-op_end_ns[ops], op_start_ns[ops]))]
        starts, ends = op_start_ns[ops], op_end_ns[ops]
        around = _enclosing(ends, starts)
        candidates = np.searchsorted(starts, time_ns[moments], side="right") - 1
        while True:
            over = (candidates >= 0) & (ends[candidates] < time_ns[moments])
            if not over.any():
                break
            candidates = np.where(over, around[candidates], candidates)
        found[moments] = np.where(candidates >= 0, ops[candidates], NO_OP)
    return found


def _enclosing(ends: Int64s, starts: Int64s) -> Int64s:
    """Return for each of the intervals, sorted by start, the innermost one around it, or -1."""
    around = np.full(len(ends), NO_OP, dtype=np.int64)
    if np.all(ends[:-1] < starts[1:]):  # as most ops are: one after the other
        return around
    open_intervals: list[int] = []
    start_list, end_list = starts.tolist(), ends.tolist()
    for position, (start, end) in enumerate(zip(start_list, end_list, strict=True)):
        while open_intervals and (
            end_list[open_intervals[-1]] < start or end_list[open_intervals[-1]] < end
        ):
            open_intervals.pop()
        if open_intervals:
            around[position] = open_intervals[-1]
        open_intervals.append(position)
    return around
