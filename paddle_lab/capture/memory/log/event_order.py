"""The order of events of several threads: in which Paddle counted them.

Paddle changes its counter, reads it, and takes the time; another thread may do all that in between.
By their times alone, a block may seem to be allocated before one was freed that made room for it,
and memory to stand higher than it did. But every event says what the counter was, and a thread has
only one event on its way. So what is missing from an event's count are next events of others.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from paddle_lab.capture.memory.log.events import ALLOCATE, COLUMNS, FREE, NOT_READ, Int64s

_TIME, _KIND, _BYTES, _ALLOCATED, _PLACE, _THREAD = map(
    COLUMNS.index, ("time_ns", "kind", "bytes", "allocated_bytes", "place", "thread")
)
_AHEAD = 256
"""So many later events are looked at for the next of each other thread."""
_COUNTS = range(1, 4)
"""How many events may be on their way."""
_MOST_UNEXPLAINED = 64
"""After so many events in a row that no order explains, there is something else that is wrong."""


def in_counted_order(table: Int64s) -> Int64s:
    """Return a segment's events with times that are in the order in which Paddle counted them.

    Parameters
    ----------
    table
        Events, shape ``[events, columns]``.

    Returns
    -------
    numpy.ndarray
        The same events; those of several threads by time.
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
    done = 0
    while done < len(unlike):
        start = int(unlike[done])
        before = int(sums[start]) - changes[start]
        end = _order_from(start, before, order, changes, counts, threads)
        if end < 0:
            break
        done = int(np.searchsorted(unlike, end))
    moved = events[order]
    moved[:, _TIME] = _ascending(moved[:, _TIME].tolist(), change[order].tolist())
    return moved


def _order_from(
    start: int,
    total: int,
    order: list[int],
    changes: list[int],
    counts: list[int],
    threads: list[int],
) -> int:
    """Put the events from a position on in order, until they are counted as they come.

    Returns
    -------
    int
        The position where that is; -1 if there is none.
    """
    unexplained, position, moved_until = 0, start, start
    while position < len(order):
        event = order[position]
        total += changes[event]
        missing = counts[event] - total
        if missing:
            others = _on_their_way(position, missing, order, changes, threads)
            for other in others:
                place = order.index(other, position)
                order[position : place + 1] = [other, *order[position:place]]
                total += changes[other]
                position += 1
                moved_until = max(moved_until, other)
            unexplained = 0 if others else unexplained + 1
            if unexplained > _MOST_UNEXPLAINED:
                return -1
        elif position >= moved_until:
            return position + 1
        position += 1
    return len(order)


def _on_their_way(
    position: int, missing: int, order: list[int], changes: list[int], threads: list[int]
) -> list[int]:
    """Return next events of other threads that a count includes already."""
    own = threads[order[position]]
    nexts: dict[int, int] = {}
    for event in order[position + 1 : position + 1 + _AHEAD]:
        if threads[event] != own:
            nexts.setdefault(threads[event], event)
    few = (some for count in _COUNTS for some in combinations(nexts.values(), count))
    return next((list(some) for some in few if sum(map(changes.__getitem__, some)) == missing), [])


def _ascending(times: list[int], changes: list[int]) -> list[int]:
    """Return times of events that come in another order: what was put before others is earlier.

    At one and the same time memory is freed first.
    """
    for position in range(len(times) - 2, -1, -1):
        frees_first = changes[position] < 0 or changes[position + 1] > 0
        latest = times[position + 1] - (0 if frees_first else 1)
        times[position] = min(times[position], latest)
    return times
