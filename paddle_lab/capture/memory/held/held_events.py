"""The allocator events that a trace holds while it runs: all, or no more than it may keep.

Blocks that are still allocated are always held, and so are those from before the trace. Of what was
freed, only so many; how high the others let memory stand is told by :class:`Highs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import NamedTuple

import numpy as np

from paddle_lab.capture.memory.held.blocks import NO_EVENT, Blocks, blocks_of, paired
from paddle_lab.capture.memory.held.gaps import CountedTotals
from paddle_lab.capture.memory.held.highs import Highs, Interval, Mask, is_in, joined
from paddle_lab.capture.memory.log.allocator_log import BackwardSpan, Segment
from paddle_lab.capture.memory.log.events import (
    ALLOCATE,
    FREE,
    NOT_READ,
    RESERVED_ALLOCATE,
    RESERVED_FREE,
    AllocatorEvents,
    GradNodeRuns,
    Int64s,
)

KeyedSpan = tuple[int, BackwardSpan]
"""A recorder's key of a backward call, and the call."""


class LeftOut(NamedTuple):
    """Blocks of which some are forgotten."""

    blocks: Blocks
    is_gone: Mask
    """Which of them are."""


class HeldEvents:
    """Events of one trace, by time, and the grad nodes that ran."""

    def __init__(self) -> None:
        self.counted = CountedTotals()
        self.highs = Highs()
        self.forgotten = 0
        """How many blocks were."""
        self._blocks = 0
        self._runs: list[GradNodeRuns] = []
        self._parts: list[AllocatorEvents] = []
        self._totals: list[Int64s] = []
        self._places: list[str] = []

    def __len__(self) -> int:
        return sum(len(part.time_ns) for part in self._parts)

    @property
    def block_count(self) -> int:
        """How many allocations are held."""
        return self._blocks

    @property
    def runs(self) -> GradNodeRuns:
        """The grad nodes that ran, by start as far as segments do not overlap."""
        if len(self._runs) != 1:
            self._runs = [GradNodeRuns.in_turn(self._runs)]
        return self._runs[0]

    def add(self, events: AllocatorEvents, runs: GradNodeRuns, segments: list[Segment]) -> None:
        """Hold what was read of segments that follow those of the last call."""
        self._places += [place for place in events.places if place not in self._places]
        number = np.array([self._places.index(place) for place in events.places], np.int64)
        place = number[events.place] if len(number) else events.place
        part = replace(events, place=place, places=self._places)
        # Of what is allocated, an event of reserving says what the last event but it said.
        reserves = np.isin(part.kind, (RESERVED_ALLOCATE, RESERVED_FREE))
        group = part.segment * len(self._places) + part.place
        is_late = reserves & np.isin(group, group[~reserves])
        part = replace(part, allocated_bytes=np.where(is_late, NOT_READ, part.allocated_bytes))
        totals = self.counted.count(part, segments)
        part = replace(part, allocated_bytes=np.where(is_late, totals, part.allocated_bytes))
        self._parts.append(part)
        self._totals.append(totals)
        self._runs.append(runs)
        self._blocks += int((part.kind == ALLOCATE).sum())

    def events(self) -> AllocatorEvents:
        """Return all that are held."""
        if len(self._parts) != 1:
            columns = {
                field.name: np.concatenate(
                    [np.empty(0, np.int64), *(getattr(part, field.name) for part in self._parts)]
                )
                for field in fields(AllocatorEvents)
                if field.name != "places"
            }
            totals = np.concatenate([np.empty(0, np.int64), *self._totals])
            order = np.argsort(columns["time_ns"], kind="stable")
            self._hold({name: column[order] for name, column in columns.items()}, totals[order])
        return self._parts[0]

    def forget(self, most: int, windows: Sequence[Interval] | None) -> LeftOut:
        """Forget blocks that were freed, all but so many.

        Parameters
        ----------
        most
            How many blocks may stay.
        windows
            Times whose blocks stay before all others, ascending and apart from each other; ``None``
            where those stay that were freed last.
        """
        events = self.events()
        first, last = paired(events)
        blocks = blocks_of(events, first, last)
        is_gone, covered = _choice(blocks, (first != NO_EVENT) & (last != NO_EVENT), most, windows)
        self.highs.cover(covered, events, self._totals[0])
        stays = np.ones(len(events.time_ns), np.bool_)
        stays[first[is_gone]] = False
        ends = last[is_gone]
        # Where its free is missing, a block ends where another begins.
        stays[ends[events.kind[ends] == FREE]] = False
        columns = {
            field.name: getattr(events, field.name)[stays]
            for field in fields(AllocatorEvents)
            if field.name != "places"
        }
        self._hold(columns, self._totals[0][stays])
        self.forgotten += int(is_gone.sum())
        return LeftOut(blocks, is_gone)

    def forget_runs(self, spans: Sequence[KeyedSpan]) -> list[KeyedSpan]:
        """Forget grad nodes that ran in backward calls of which no event is held any more.

        Parameters
        ----------
        spans
            The backward calls that have ended.

        Returns
        -------
        list
            Those of which there are events.
        """
        times_ns = self.events().time_ns
        bounds = np.array([(span.start_ns, span.end_ns) for _, span in spans], np.int64)
        first, last = np.searchsorted(times_ns, bounds.reshape(-1, 2).T)
        keeps = (last > first).tolist()
        runs = self.runs.start_ns
        kept = [span for span, is_kept in zip(spans, keeps, strict=True) if is_kept]
        intervals = [[(one.start_ns, one.end_ns + 1) for _, one in some] for some in (spans, kept)]
        is_gone = is_in(runs, intervals[0]) & ~is_in(runs, intervals[1])
        self._runs = [self.runs.chosen(np.flatnonzero(~is_gone))]
        return kept

    def _hold(self, columns: dict[str, Int64s], totals: Int64s) -> None:
        self._parts = [AllocatorEvents(**columns, places=self._places)]
        self._totals = [totals]
        self._blocks = int((columns["kind"] == ALLOCATE).sum())


def _choice(
    blocks: Blocks,
    is_whole: Mask,
    most: int,
    windows: Sequence[Interval] | None,
) -> tuple[Mask, list[Interval]]:
    """Return which blocks go, and all times at which one of them was there."""
    is_gone = np.zeros(len(blocks), np.bool_)
    covered: list[Interval] = []
    if windows is not None:
        starts = np.array([start for start, _ in windows], np.int64)
        ends = np.array([end for _, end in windows], np.int64)
        # The first window that has not ended when a block begins: it begins before the block ends.
        window = np.searchsorted(ends, blocks.start_ns, side="right")
        is_inside = blocks.end_ns > np.append(starts, np.iinfo(np.int64).max)[window]
        is_gone = is_whole & ~is_inside
        borders = [0, *(border for window in windows for border in window)]
        covered = [
            (start, end)
            for start, end in zip(borders[::2], borders[1::2], strict=False)
            if start < end
        ]
    surplus = int((~is_gone).sum()) - most
    candidates = np.flatnonzero(is_whole & ~is_gone)
    if surplus > 0 and len(candidates):
        by_end = candidates[np.argsort(blocks.end_ns[candidates], kind="stable")]
        is_gone[by_end[:surplus]] = True
        until = int(blocks.end_ns[by_end[min(surplus, len(by_end)) - 1]]) + 1
        covered = joined([(0, until), *covered])
    return is_gone, covered
