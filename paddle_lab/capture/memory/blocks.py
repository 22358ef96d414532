"""From allocator events to blocks: which free ends which allocation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paddle_lab.capture.memory.events import ALLOCATE, FREE, AllocatorEvents, Int64s

BEFORE = -1
"""Start of a block that was allocated before the trace."""
ALIVE = -1
"""End of a block that is still allocated."""


@dataclass
class Blocks:
    """Blocks by start, those from before the trace first; arrays of shape ``[blocks]``."""

    address: Int64s
    bytes: Int64s
    place: Int64s
    thread: Int64s
    start_ns: Int64s
    """On the clock of ``perf_counter_ns``, or :data:`BEFORE`."""
    end_ns: Int64s
    """Likewise, or :data:`ALIVE`."""
    end_thread: Int64s
    """Which thread freed it; -1 if none has."""

    def __len__(self) -> int:
        return len(self.address)


def pair_events(events: AllocatorEvents) -> Blocks:
    """Pair each allocation with the next free of its address.

    A free without an allocation ends a block from before the trace. Should events be missing (those
    of another thread while the log is cut), a block ends where its address is allocated again.
    """
    chosen = np.flatnonzero((events.kind == ALLOCATE) | (events.kind == FREE))
    # By place and address, and within one address by time.
    order = chosen[np.lexsort((events.address[chosen], events.place[chosen]))]
    is_allocation = events.kind[order] == ALLOCATE
    same_as_next = np.zeros(len(order), dtype=bool)
    if len(order):
        same_as_next[:-1] = (events.address[order][1:] == events.address[order][:-1]) & (
            events.place[order][1:] == events.place[order][:-1]
        )
    times, threads = events.time_ns[order], events.thread[order]
    next_times, next_threads = np.append(times[1:], 0), np.append(threads[1:], 0)
    follows_allocation = np.zeros(len(order), dtype=bool)
    follows_allocation[1:] = same_as_next[:-1] & is_allocation[:-1]
    allocations = np.flatnonzero(is_allocation)
    orphans = np.flatnonzero(~is_allocation & ~follows_allocation)
    rows = np.concatenate([orphans, allocations])
    is_orphan = np.arange(len(rows)) < len(orphans)
    start_ns = np.where(is_orphan, BEFORE, times[rows])
    end_ns = np.where(is_orphan, times[rows], np.where(same_as_next, next_times, ALIVE)[rows])
    end_thread = np.where(
        is_orphan, threads[rows], np.where(same_as_next, next_threads, ALIVE)[rows]
    )
    by_start = np.argsort(start_ns, kind="stable")
    rows = rows[by_start]
    source = order[rows]
    return Blocks(
        address=events.address[source],
        bytes=events.bytes[source],
        place=events.place[source],
        thread=events.thread[source],
        start_ns=start_ns[by_start],
        end_ns=end_ns[by_start],
        end_thread=end_thread[by_start],
    )
