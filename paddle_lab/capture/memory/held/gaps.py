"""Frees that fell between two segments, while the log was being cut.

The thread that cuts the log frees nothing meanwhile, but others may: the executor of a static
program frees in a thread of its own. Every event carries Paddle's counter, so it is known how much
was missed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paddle_lab.capture.memory.held.blocks import ALIVE, Blocks
from paddle_lab.capture.memory.log.allocator_log import Segment
from paddle_lab.capture.memory.log.events import ALLOCATE, FREE, NOT_READ, AllocatorEvents, Int64s


@dataclass
class Gap:
    """What was missed between two segments in one place."""

    time_ns: int
    place: int
    bytes: int
    """Change of the allocated memory; negative where frees were missed."""


class CountedTotals:
    """Follows Paddle's counter from segment to segment, and notes what was missed between two."""

    def __init__(self) -> None:
        self.gaps: list[Gap] = []
        """Where the counter went on from another value than the one before."""
        self.first: dict[int, int] = {}
        """What each place had before the first event there."""
        self.last: dict[int, int] = {}
        """Likewise after the last event."""

    def count(self, events: AllocatorEvents, segments: list[Segment]) -> Int64s:
        """Return what was allocated in the place of each event after it, shape ``[events]``.

        Parameters
        ----------
        events
            Of the segments that follow those of the last call; places have the same numbers.
        segments
            Those that tell of the events.
        """
        totals = events.allocated_bytes.copy()
        sign = np.where(events.kind == ALLOCATE, 1, np.where(events.kind == FREE, -1, 0))
        for place in range(len(events.places)):
            for number, segment in enumerate(segments):
                its_own = np.flatnonzero((events.segment == number) & (events.place == place))
                if not len(its_own):
                    continue
                sums = np.cumsum(sign[its_own] * events.bytes[its_own])
                # Threads that allocate at once may read the counter after each other's event.
                counted = events.allocated_bytes[its_own]
                before = int(np.median((counted - sums)[counted != NOT_READ]))
                self.first.setdefault(place, before)
                last_total = self.last.get(place)
                if last_total is not None and before != last_total:
                    self.gaps.append(Gap(segment.begin.perf_ns, place, before - last_total))
                totals[its_own] = before + sums
                self.last[place] = before + int(sums[-1])
        return totals


def end_missed_blocks(blocks: Blocks, gaps: list[Gap], held: set[int]) -> int:
    """End the blocks whose free was missed, where it is plain which they are.

    Parameters
    ----------
    blocks
        Changed in place.
    held
        Blocks in which a living tensor is stored.

    Returns
    -------
    int
        Bytes of which it is not known what became of them.
    """
    unknown_bytes = 0
    for gap in gaps:
        candidates = [
            block
            for block in np.flatnonzero(
                (blocks.place == gap.place)
                & (blocks.end_ns == ALIVE)
                & (blocks.start_ns < gap.time_ns)
                & (blocks.start_ns >= 0)
            ).tolist()
            if block not in held
        ]
        missed = _choose([int(blocks.bytes[block]) for block in candidates], -gap.bytes)
        for position in missed:
            blocks.end_ns[candidates[position]] = gap.time_ns
        if not missed:
            unknown_bytes += abs(gap.bytes)
    return unknown_bytes


def _choose(sizes: list[int], total: int) -> list[int]:
    """Return positions of the latest run of ``sizes`` that adds up to ``total``, or none."""
    end, total_here = len(sizes), 0
    for start in range(len(sizes) - 1, -1, -1):
        total_here += sizes[start]
        while total_here > total and end > start:
            end -= 1
            total_here -= sizes[end]
        if total_here == total and end > start:
            return list(range(start, end))
    return []
