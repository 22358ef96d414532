"""Turns allocator events into blocks: finds which free ends which allocation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paddle_lab.capture.memory.log.events import ALLOCATE, FREE, AllocatorEvents, Columns, Int64s
from paddle_lab.trace.trees import taken

BEFORE = -1
"""The start of a block that was allocated before the trace."""
ALIVE = -1
"""The end of a block that is still allocated."""
NO_EVENT = NO_BLOCK = -1


@dataclass
class Blocks(Columns):
    """Blocks: those from before the trace, by their ends, and then the others, by their starts."""

    address: Int64s
    bytes: Int64s
    place: Int64s
    thread: Int64s
    start_ns: Int64s
    """On the clock of ``perf_counter_ns``, or :data:`BEFORE`."""
    end_ns: Int64s
    """On the same clock, or :data:`ALIVE`."""
    end_thread: Int64s
    """The thread that freed the block; -1 if the block was not freed."""
    own_start_ns: Int64s
    """The start by the time that the allocating thread took."""
    own_end_ns: Int64s
    """The end by the time that the freeing thread took."""


def pair_events(events: AllocatorEvents) -> Blocks:
    """Pair each allocation with the next free of its address.

    A free without an allocation ends a block from before the trace. If events are missing (another
    thread's, while the log is cut), a block ends when its address is allocated again.
    """
    return blocks_of(events, *paired(events))


def paired(events: AllocatorEvents) -> tuple[Int64s, Int64s]:
    """Return the events with which each block begins and ends, -1 for none.

    Returns
    -------
    first, last
        Positions of events, shape ``[blocks]``, by start.
    """
    chosen = np.flatnonzero(events.kind <= FREE)
    # Sort the events by place and address, and within one address by time.
    order = chosen[np.lexsort((events.address[chosen], events.place[chosen]))]
    address, place = events.address[order], events.place[order]
    is_allocation = events.kind[order] == ALLOCATE
    same_as_next = np.zeros(len(order), np.bool_)
    same_as_next[:-1] = (address[1:] == address[:-1]) & (place[1:] == place[:-1])
    follows_allocation = np.append(np.False_, same_as_next & is_allocation)[:-1]
    orphans = np.sort(order[~is_allocation & ~follows_allocation])
    next_event = np.where(same_as_next, np.append(order[1:], NO_EVENT)[: len(order)], NO_EVENT)
    first = np.concatenate([np.full(len(orphans), NO_EVENT), order[is_allocation]])
    last = np.concatenate([orphans, next_event[is_allocation]])
    by_start = np.argsort(taken(events.time_ns, first), kind="stable")
    return first[by_start], last[by_start]


def blocks_of(events: AllocatorEvents, first: Int64s, last: Int64s) -> Blocks:
    """Return the blocks that begin and end with these events of :func:`paired`."""
    source = np.where(first == NO_EVENT, last, first)
    own_ns = events.time_ns + events.late_ns
    return Blocks(
        address=events.address[source],
        bytes=events.bytes[source],
        place=events.place[source],
        thread=events.thread[source],
        start_ns=taken(events.time_ns, first),
        end_ns=taken(events.time_ns, last),
        end_thread=taken(events.thread, last),
        own_start_ns=taken(own_ns, first),
        own_end_ns=taken(own_ns, last),
    )


def blocks_at(blocks: Blocks, address: Int64s, time_ns: Int64s) -> Int64s:
    """Return, for each address and time, the block that was alive there; -1 for none.

    Only a block that begins exactly at the address counts.
    """
    count = len(blocks)
    addresses = np.append(blocks.address, address)
    is_question = np.arange(len(addresses)) >= count
    order = np.lexsort((is_question, np.append(blocks.start_ns, time_ns), addresses))
    # For each query: the last block before the query in this order. Addresses are compared below.
    latest = np.maximum.accumulate(np.where(is_question[order], NO_BLOCK, np.arange(len(order))))
    asked = np.flatnonzero(is_question[order])
    found = np.full(len(address), NO_BLOCK, np.int64)
    found[order[asked] - count] = taken(order, latest[asked])
    end_ns = taken(blocks.end_ns, found)
    lives = (end_ns == ALIVE) | (time_ns <= end_ns)
    return np.where(lives & (taken(blocks.address, found) == address), found, NO_BLOCK)
