"""The allocator events that a trace holds while it runs: all, or a limited number.

Blocks that are still allocated, and blocks from before the trace, are always held. Only a limited
number of freed blocks is held. :class:`Highs` keeps the peaks of times with forgotten blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, compress

import numpy as np

from paddle_lab.capture.memory.held.blocks import NO_EVENT, Blocks, blocks_of, paired
from paddle_lab.capture.memory.held.highs import Highs, Interval, is_in
from paddle_lab.capture.memory.log.events import (
    ALLOCATE,
    FREE,
    NOT_READ,
    AllocatorEvents,
    GradNodeRuns,
    Int64s,
    Mask,
)
from paddle_lab.capture.memory.log.segments import KeyedSpan


class CountedTotals:
    """Follows Paddle's counter from segment to segment."""

    def __init__(self) -> None:
        self.missed_bytes = 0
        """The sum of the counter's changes between segments."""
        self.first: dict[int, int] = {}
        """For each place, the allocated memory before the first event."""
        self.last: dict[int, int] = {}
        """For each place, the allocated memory after the last event."""

    def count(self, events: AllocatorEvents) -> Int64s:
        """Return the memory that is allocated after each event in its place, shape ``[events]``.

        Parameters
        ----------
        events
            Events of the segments that follow those of the last call.
        """
        totals = events.allocated_bytes.copy()
        signs = np.array([1, -1, 0, 0])[events.kind]
        for pair in np.unique(events.place << 32 | events.segment).tolist():
            place, segment = divmod(pair, 1 << 32)
            own = np.flatnonzero((events.segment == segment) & (events.place == place))
            sums = np.cumsum(signs[own] * events.bytes[own])
            counted = events.allocated_bytes[own]
            # An event of reserved memory repeats the previous event's count.
            is_valid = (counted != NOT_READ) & (signs[own] != 0)
            is_valid = is_valid if is_valid.any() else counted != NOT_READ
            # Threads that allocate at the same time may read the counter after each other's event.
            before = int(np.median((counted - sums)[is_valid]))
            self.first.setdefault(place, before)
            self.missed_bytes += abs(before - self.last.get(place, before))
            totals[own] = before + sums
            self.last[place] = int(totals[own[-1]])
        return totals


class HeldEvents:
    """Events of one trace, by time, and the grad nodes that ran."""

    def __init__(self) -> None:
        self.counted = CountedTotals()
        self.highs = Highs()
        self.forgotten = 0
        """How many blocks were forgotten."""
        self.block_count = 0
        """How many allocations are held."""
        self._parts: list[AllocatorEvents] = []
        self._runs: list[GradNodeRuns] = []

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    @property
    def runs(self) -> GradNodeRuns:
        """The grad nodes that ran, by start; overlapping segments are not merged."""
        if len(self._runs) != 1:
            self._runs = [GradNodeRuns.joined(self._runs)]
        return self._runs[0]

    def add(self, events: AllocatorEvents, runs: GradNodeRuns) -> None:
        """Add the events and grad nodes of the next segments."""
        totals = self.counted.count(events)
        self._parts.append(replace(events, allocated_bytes=totals))
        self._runs.append(runs)
        self.block_count += int((events.kind == ALLOCATE).sum())

    def events(self) -> AllocatorEvents:
        """Return all held events, with the memory that was allocated after each."""
        if len(self._parts) != 1:
            events = AllocatorEvents.joined(self._parts)
            self._parts = [events.chosen(np.argsort(events.time_ns, kind="stable"))]
        return self._parts[0]

    def forget(self, most: int, windows: Sequence[Interval] | None) -> tuple[Blocks, Mask]:
        """Forget freed blocks, so that at most ``most`` blocks stay.

        Parameters
        ----------
        most
            How many blocks may stay.
        windows
            Times whose blocks have priority, ascending and without overlap. ``None`` keeps the
            blocks that were freed last.

        Returns
        -------
        blocks, is_gone
            All blocks that were held, and which of them are forgotten.
        """
        events = self.events()
        first, last = paired(events)
        blocks = blocks_of(events, first, last)
        is_gone, covered = _choice(blocks, (first != NO_EVENT) & (last != NO_EVENT), most, windows)
        self.highs.cover(covered, events)
        stays = np.ones(len(events), np.bool_)
        stays[first[is_gone]] = False
        ends = last[is_gone]
        # If no free was recorded, a block ends at the next allocation at the block's address.
        stays[ends[events.kind[ends] == FREE]] = False
        self._parts = [events.chosen(stays)]
        forgotten = int(is_gone.sum())
        self.forgotten += forgotten
        self.block_count -= forgotten
        return blocks, is_gone

    def forget_runs(self, spans: Sequence[KeyedSpan]) -> list[KeyedSpan]:
        """Forget the grad nodes of backward calls without held events.

        Parameters
        ----------
        spans
            The backward calls that have ended.

        Returns
        -------
        list
            The calls that still have events.
        """
        bounds = np.array([(span.start_ns, span.end_ns) for _, span in spans], np.int64)
        bounds = bounds.reshape(-1, 2)
        first, last = np.searchsorted(self.events().time_ns, bounds.T)
        keeps = last > first
        bounds[:, 1] += 1
        starts_ns = self.runs.start_ns
        is_gone = is_in(starts_ns, bounds.tolist()) & ~is_in(starts_ns, bounds[keeps].tolist())
        self._runs = [self.runs.chosen(~is_gone)]
        return list(compress(spans, keeps))


def _choice(
    blocks: Blocks, is_whole: Mask, most: int, windows: Sequence[Interval] | None
) -> tuple[Mask, list[Interval]]:
    """Return which blocks are forgotten, and the times in which these blocks were alive."""
    is_gone = np.zeros(len(blocks), np.bool_)
    covered: list[Interval] = []
    if windows is not None:
        borders = np.array(windows, np.int64).reshape(-1, 2)
        # For each block, take the first window that ends after the block's start. The block has
        # priority if this window begins before the block's end.
        window = np.searchsorted(borders[:, 1], blocks.start_ns, side="right")
        starts_ns = np.append(borders[:, 0], np.iinfo(np.int64).max)[window]
        is_gone = is_whole & (blocks.end_ns <= starts_ns)
        outside = iter([0, *chain.from_iterable(windows)])
        covered = list(zip(outside, outside, strict=False))
    surplus = int((~is_gone).sum()) - most
    candidates = np.flatnonzero(is_whole & ~is_gone)
    if surplus > 0 and len(candidates):
        by_end = candidates[np.argsort(blocks.end_ns[candidates], kind="stable")]
        is_gone[by_end[:surplus]] = True
        until = int(blocks.end_ns[by_end[min(surplus, len(by_end)) - 1]]) + 1
        covered.append((0, until))
    return is_gone, covered
