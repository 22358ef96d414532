"""The memory of one place: its peak, its owners at a moment, leaks, holders."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np
from typing_extensions import Self

from paddle_lab.analysis.memory.allocations import AllocationTable
from paddle_lab.analysis.memory.attribution import Attribution
from paddle_lab.analysis.memory.block_map import BlockMap, block_map
from paddle_lab.analysis.memory.breakdown import Breakdown, Grouping, breakdown
from paddle_lab.analysis.memory.fragmentation import Fragmentation, fragmentation
from paddle_lab.analysis.memory.growth import Growth, growth
from paddle_lab.analysis.memory.holders import HolderTable, holders
from paddle_lab.analysis.memory.sizes import moment_text, size_text
from paddle_lab.analysis.memory.timeline import Timeline, counted, timeline
from paddle_lab.trace.memory_notices import tell_of_missing_memory
from paddle_lab.trace.record import Record
from paddle_lab.trace.trees import Keys
from paddle_lab.words import say

PlaceT = TypeVar("PlaceT", bound="PlaceMemory")


class PlaceMemory:
    """The memory that Paddle allocated on one place during a trace.

    A moment is a number of ns since the trace began, as in ``op.start_ns``. If a method's moment is
    optional, it defaults to the moment of the peak.

    Parameters
    ----------
    attribution
        The owners of the blocks.
    place
        ``"cpu"`` or ``"gpu:0"``. The default is the device with the highest peak, or else the CPU.

    Raises
    ------
    ValueError
        If the trace has no memory of this place.
    """

    def __init__(self, attribution: Attribution, place: str | None = None) -> None:
        self.attribution = attribution
        self._codes = _places(attribution.record)
        if place is None:
            place = self._main_place()
        if place not in self._codes:
            known = ", ".join(self._codes) or say("errors.none")
            raise ValueError(say("errors.no_memory_of", place=repr(place), known=known))
        self.place = place

    @property
    def record(self) -> Record:
        """The trace's tables."""
        return self.attribution.record

    @property
    def places(self) -> Sequence[str]:
        """The places on which memory was allocated."""
        return list(self._codes)

    def on(self, place: str) -> Self:
        """Return the memory of another place.

        Raises
        ------
        ValueError
            If the trace has no memory of this place.
        """
        return type(self)(self.attribution, place)

    @cached_property
    def allocations(self) -> AllocationTable:
        """The blocks of the place by their start, first those from before the trace."""
        is_here = self.record.allocations["place"] == self._codes[self.place]
        return AllocationTable(self.attribution, np.flatnonzero(is_here).astype(np.int32))

    @cached_property
    def timeline(self) -> Timeline:
        """The running total: Paddle's own count at every allocation and release."""
        at_start = next(iter(self._counted), None)
        return timeline(self.record, self.allocations.keys, counted_bytes=at_start)

    @property
    def _counted(self) -> list[int]:
        return counted(self.record, self._codes[self.place])

    @property
    def is_partial(self) -> bool:
        """Whether some of the memory was not recorded, as when another profiler is active.

        The peak is then the highest recorded value; later values are missing.
        """
        return tell_of_missing_memory(self.record.origin.notices)

    @property
    def peak_bytes(self) -> int:
        """The largest number of bytes that was allocated at any moment."""
        return self.timeline.peak_bytes

    @property
    def peak_ns(self) -> int:
        """The first moment of the peak."""
        return self.timeline.peak_ns

    @property
    def start_bytes(self) -> int:
        """The bytes that were allocated when the trace began."""
        return self.timeline.start_bytes

    @property
    def end_bytes(self) -> int:
        """The bytes that were allocated when the trace ended."""
        return self._counted[-1] if self.is_partial and self._counted else self.timeline.end_bytes

    @property
    def unseen_bytes(self) -> int:
        """Bytes allocated before the trace and not used in it. Only their sum is known."""
        return self.timeline.unseen_bytes

    def alive_at(self, time_ns: int | None = None) -> AllocationTable:
        """Return the blocks that were alive at a moment, the largest first."""
        return AllocationTable(self.attribution, self._alive(time_ns)).largest_first()

    def still_alive(self) -> AllocationTable:
        """Return the blocks that the traced code allocated and did not free, the largest first."""
        blocks = self.record.allocations
        keys = self.alive_at(self.timeline.end_ns).keys
        return AllocationTable(self.attribution, keys[blocks["start_ns"][keys] >= 0])

    def by_op(self, time_ns: int | None = None) -> Breakdown:
        """Return the memory at a moment by op. Blocks of backward belong to the forward op."""
        return self._breakdown("op", time_ns)

    def by_layer(self, time_ns: int | None = None) -> Breakdown:
        """Return the memory at a moment by layer. A parameter belongs to its own layer."""
        return self._breakdown("layer", time_ns)

    def by_line(self, time_ns: int | None = None) -> Breakdown:
        """Return the memory at a moment by line of the user's code."""
        return self._breakdown("line", time_ns)

    def by_kind(self, time_ns: int | None = None) -> Breakdown:
        """Return the memory at a moment by kind: parameters, saved activations, …."""
        return self._breakdown("kind", time_ns)

    def fragmentation(self) -> Fragmentation:
        """Return the memory that was reserved but not allocated, over time."""
        return fragmentation(self.record, self._codes[self.place], self.timeline)

    def block_map(self, time_ns: int | None = None) -> BlockMap:
        """Return the allocated addresses at a moment, and the holes between them."""
        moment = self.peak_ns if time_ns is None else time_ns
        return block_map(self.attribution, self.allocations.keys, self._alive(moment), moment)

    def growth(self) -> Growth:
        """Return the lines whose living memory grew from step to step: leaks."""
        return growth(self.attribution, self.allocations.keys)

    def holders(self) -> HolderTable:
        """Return the objects that kept blocks alive when the cell ended, the largest first."""
        return holders(self.attribution, self.allocations.keys)

    def _alive(self, time_ns: int | None) -> Keys:
        """Return the keys of the blocks alive at a moment, in the order of ``allocations``."""
        moment = self.peak_ns if time_ns is None else time_ns
        keys, blocks = self.allocations.keys, self.record.allocations
        start, end = blocks["start_ns"][keys], blocks["end_ns"][keys]
        return keys[(start <= moment) & ((end < 0) | (end > moment))]

    def _breakdown(self, grouping: Grouping, time_ns: int | None) -> Breakdown:
        moment = self.peak_ns if time_ns is None else time_ns
        return breakdown(
            self.attribution,
            self._alive(moment),
            grouping=grouping,
            time_ns=moment,
            unseen_bytes=self.unseen_bytes,
        )

    def _main_place(self) -> str:
        if not self._codes:
            raise ValueError(say("errors.no_memory"))
        devices = [name for name in self._codes if "cpu" not in name and "pinned" not in name]
        candidates = devices or list(self._codes)
        if len(candidates) == 1:
            return candidates[0]
        return max(candidates, key=lambda place: self.on(place).peak_bytes)

    def one_line(self) -> str:
        """Return a line of text: the peak, and the bytes allocated at the start and at the end."""
        return say(
            "memory.line_partial" if self.is_partial else "memory.line",
            size=size_text(self.peak_bytes),
            place=self.place,
            moment=moment_text(self.peak_ns),
            start=size_text(self.start_bytes),
            end=size_text(self.end_bytes),
        )

    def __repr__(self) -> str:
        count = len(self.allocations)
        lines = [self.one_line(), say("memory.count", n=count)]
        known = self.fragmentation()
        if known.is_known:
            lines.append(repr(known))
        if len(self.record.steps) > 1:
            lines.append(repr(self.growth()))
        return "\n\n".join(["\n".join(lines), repr(self.by_kind()), repr(self.by_line())])


def _places(record: Record) -> dict[str, int]:
    """Return the position of each place's name in ``strings``, ordered by first block."""
    codes = np.concatenate([record.allocations["place"], record.memory_totals["place"]])
    unique, first = np.unique(codes, return_index=True)
    return {record.text(code): code for code in unique[np.argsort(first)].tolist()}
