"""From allocator events to blocks: which free ends which allocation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paddle_lab.capture.memory.log.events import ALLOCATE, FREE, AllocatorEvents, Int64s

BEFORE = -1
"""Start of a block that was allocated before the trace."""
ALIVE = -1
"""End of a block that is still allocated."""
NO_EVENT = NO_BLOCK = -1


@dataclass
class Blocks:
    """Blocks by start, those from before the trace first, by end; shape ``[blocks]`` each."""

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
    return blocks_of(events, *paired(events))


def paired(events: AllocatorEvents) -> tuple[Int64s, Int64s]:
    """Return with which event each block begins and ends, -1 where there is none.

    Returns
    -------
    first, last
        Positions of events, shape ``[blocks]``, by start.
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
    follows_allocation = np.zeros(len(order), dtype=bool)
    follows_allocation[1:] = same_as_next[:-1] & is_allocation[:-1]
    orphans = np.sort(order[~is_allocation & ~follows_allocation])
    next_event = np.where(same_as_next, np.append(order[1:], NO_EVENT), NO_EVENT)
    first = np.concatenate([np.full(len(orphans), NO_EVENT), order[is_allocation]])
    last = np.concatenate([orphans, next_event[is_allocation]])
    start_ns = np.where(first == NO_EVENT, BEFORE, _taken(events.time_ns, first))
    by_start = np.argsort(start_ns, kind="stable")
    return first[by_start], last[by_start]


def blocks_of(events: AllocatorEvents, first: Int64s, last: Int64s) -> Blocks:
    """Return the blocks that begin and end with events, as :func:`paired` tells."""
    source = np.where(first == NO_EVENT, last, first)
    is_over = last != NO_EVENT
    return Blocks(
        address=events.address[source],
        bytes=events.bytes[source],
        place=events.place[source],
        thread=events.thread[source],
        start_ns=np.where(first == NO_EVENT, BEFORE, _taken(events.time_ns, first)),
        end_ns=np.where(is_over, _taken(events.time_ns, last), ALIVE),
        end_thread=np.where(is_over, _taken(events.thread, last), ALIVE),
    )


def blocks_at(blocks: Blocks, address: Int64s, time_ns: Int64s) -> Int64s:
    """Return the blocks that begin at addresses at moments, -1 where there is none.

    Of the blocks at one address, which follow each other, it is the last that began by then.
    """
    count = len(blocks)
    addresses = np.concatenate([blocks.address, address])
    times = np.concatenate([blocks.start_ns, time_ns])
    is_question = np.arange(len(addresses)) >= count
    order = np.lexsort((is_question, times, addresses))
    places = np.where(is_question[order], NO_BLOCK, np.arange(len(order)))
    latest = np.maximum.accumulate(places) if len(places) else places
    asked = np.flatnonzero(is_question[order])
    # Before the first block there is none: any will do, as its address is another.
    begun = order[np.maximum(latest[asked], 0)]
    question = order[asked] - count
    found = np.full(len(address), NO_BLOCK, dtype=np.int64)
    is_block = (latest[asked] >= 0) & (addresses[begun] == address[question])
    block, question = begun[is_block], question[is_block]
    end_ns = blocks.end_ns[block]
    lives = (end_ns == ALIVE) | (time_ns[question] <= end_ns)
    found[question[lives]] = block[lives]
    return found


def _taken(column: Int64s, rows: Int64s) -> Int64s:
    return column[rows] if len(column) else np.zeros(len(rows), dtype=np.int64)
