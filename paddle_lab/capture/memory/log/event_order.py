"""Sorts events of several threads in the order in which Paddle counted them.

Paddle changes its counter, reads it, and takes the time. Another thread may do all three in
between. If events are sorted by time alone, a block may seem to be allocated before the free that
made room for it, and the memory may seem higher than it was. But every event has a value of the
counter, and a thread has only one unfinished event. So the difference between an event's count and
the sum of the earlier events comes from the next events of other threads.

If blocks have the same size, several events explain the difference, and the choice may be wrong. So
the order is only for totals. Which op ran is found by the time that the event's thread took.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from paddle_lab.capture.memory.log.events import ALLOCATE, COLUMNS, FREE, NOT_READ, Int64s

_TIME, _KIND, _BYTES, _ALLOCATED, _PLACE, _THREAD, _LATE = map(
    COLUMNS.index, ("time_ns", "kind", "bytes", "allocated_bytes", "place", "thread", "late_ns")
)
_AHEAD = 256
"""How many later events are searched for the next event of each other thread."""
_MOST_TOGETHER = 3
"""How many events of other threads one count may already include."""
_MOST_UNEXPLAINED = 64
"""The search ends after this many events in a row that no order explains."""


def in_counted_order(table: Int64s) -> Int64s:
    """Return a segment's events, with times changed to ascend in the order of Paddle's counter.

    Parameters
    ----------
    table
        Events, shape ``[events, columns]``.

    Returns
    -------
    numpy.ndarray
        The same events, those of several threads sorted by time.
    """
    if not len(table) or (table[:, _THREAD] == table[0, _THREAD]).all():
        return table
    table = table[np.argsort(table[:, _TIME], kind="stable")]
    for place in np.unique(table[:, _PLACE]).tolist():
        is_change = (table[:, _KIND] == ALLOCATE) | (table[:, _KIND] == FREE)
        rows = np.flatnonzero(is_change & (table[:, _PLACE] == place))
        table[rows] = _ordered(table[rows])
    return table[np.argsort(table[:, _TIME], kind="stable")]


def _ordered(events: Int64s) -> Int64s:
    change = np.where(events[:, _KIND] == ALLOCATE, events[:, _BYTES], -events[:, _BYTES])
    counted = events[:, _ALLOCATED]
    sums = np.cumsum(change)
    if not len(events) or (counted == NOT_READ).any():
        return events
    sums += int(np.median(counted - sums))
    unlike = np.flatnonzero(sums != counted)
    if not len(unlike):
        return events
    order = list(range(len(events)))
    changes, counts = change.tolist(), counted.tolist()
    threads = events[:, _THREAD].tolist()
    position, unexplained = int(unlike[0]), 0
    total = int(sums[position]) - changes[position]
    while position < len(order) and unexplained <= _MOST_UNEXPLAINED:
        event = order[position]
        total += changes[event]
        missing = counts[event] - total
        others = _on_their_way(position, total, order, changes, counts, threads) if missing else []
        for other in others:
            order.insert(position, order.pop(order.index(other, position)))
            total += changes[other]
            position += 1
        unexplained = unexplained + 1 if missing and not others else 0
        position += 1
    moved = events[order]
    moved[:, _TIME] = _ascending(moved[:, _TIME].tolist(), change[order].tolist())
    moved[:, _LATE] = events[order, _TIME] - moved[:, _TIME]
    return moved


def _on_their_way(
    position: int,
    total: int,
    order: list[int],
    changes: list[int],
    counts: list[int],
    threads: list[int],
) -> list[int]:
    """Return the next events of other threads that the count at a position includes, or none."""
    event = order[position]
    own, missing, before = threads[event], counts[event] - total, total - changes[event]
    nexts: dict[int, int] = {}
    for event in order[position + 1 : position + 1 + _AHEAD]:
        if threads[event] != own:
            nexts.setdefault(threads[event], event)
    # First the event whose own count includes the fewest later ones.
    fitting = sorted(nexts.values(), key=lambda one: abs(counts[one] - changes[one] - before))
    for count in range(1, _MOST_TOGETHER + 1):
        for some in combinations(fitting, count):
            if sum(changes[event] for event in some) == missing:
                return list(some)
    return []


def _ascending(times: list[int], changes: list[int]) -> list[int]:
    """Return the events' times, reduced where needed so that they ascend.

    A free and an allocation may have the same time, because views apply the free first.
    """
    for position in range(len(times) - 2, -1, -1):
        frees_first = changes[position] < 0 or changes[position + 1] > 0
        latest = times[position + 1] - (0 if frees_first else 1)
        times[position] = min(times[position], latest)
    return times
