"""Fragmentation: memory that Paddle has reserved but not allocated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paddle_lab.analysis.memory.sizes import moment_text, size_text
from paddle_lab.analysis.memory.timeline import Bytes, Timeline, Times
from paddle_lab.analysis.tables.columns import Values
from paddle_lab.analysis.tables.data_frames import Framed
from paddle_lab.trace.record import Record
from paddle_lab.words import say

_MISREAD = 0.01
"""If reserved is less than allocated memory in more than this share of moments, it is wrong."""


@dataclass(frozen=True)
class Fragmentation(Framed):
    """Reserved and allocated memory of one place over time, as step functions.

    On a CPU Paddle reserves nothing: it gets each block from the system and returns it there. So on
    a CPU, and if the counter of reserved memory was not read, :attr:`is_known` is False and the
    arrays are empty.
    """

    time_ns: Times
    """Moments at which one of the two changed, ascending, int64, shape ``[events]``."""
    allocated_bytes: Bytes
    """The allocated bytes from each moment on, int64, shape ``[events]``."""
    reserved_bytes: Bytes
    """The reserved bytes from each moment on, int64, shape ``[events]``."""

    @property
    def is_known(self) -> bool:
        """Whether Paddle reserves memory on this place, and the trace recorded how much."""
        return len(self.time_ns) > 0

    @property
    def unused_bytes(self) -> Bytes:
        """Memory that is reserved but not allocated, int64, shape ``[events]``."""
        return self.reserved_bytes - self.allocated_bytes

    @property
    def largest_bytes(self) -> int:
        """The most bytes that were reserved but not allocated at any moment."""
        return int(self.unused_bytes.max(initial=0))

    @property
    def largest_ns(self) -> int:
        """The first moment with the most bytes that were reserved but not allocated."""
        return int(self.time_ns[self.unused_bytes.argmax()]) if self.is_known else 0

    def at(self, time_ns: int) -> int:
        """Return the bytes that were reserved but not allocated at a moment; 0 if unknown."""
        return self._at(self.unused_bytes, time_ns)

    def reserved_at(self, time_ns: int) -> int:
        """Return the bytes that were reserved at a moment; 0 if unknown."""
        return self._at(self.reserved_bytes, time_ns)

    def _at(self, values: Bytes, time_ns: int) -> int:
        event = int(np.searchsorted(self.time_ns, time_ns, side="right")) - 1
        return int(values[max(event, 0)]) if self.is_known else 0

    def _columns(self) -> dict[str, Values]:
        names = ("time_ns", "allocated_bytes", "reserved_bytes", "unused_bytes")
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        if not self.is_known:
            return say("memory.fragmentation.none")
        reserved = max(1, self.reserved_at(self.largest_ns))
        return say(
            "memory.fragmentation.most",
            size=size_text(self.largest_bytes),
            share=f"{self.largest_bytes / reserved:.0%}",
            moment=moment_text(self.largest_ns),
        )


def fragmentation(record: Record, place: int, timeline: Timeline) -> Fragmentation:
    """Return reserved and allocated memory of one place over time.

    ``place`` is the position of the place's name in ``record.strings``.
    """
    totals = record.memory_totals
    rows = np.flatnonzero(totals["place"] == place)
    if not len(rows) or record.text(place) == "cpu":
        return _unknown()
    rows = rows[np.argsort(totals["time_ns"][rows], kind="stable")]
    counted_ns = totals["time_ns"][rows]
    # The first value that was read holds from the beginning of the trace.
    counted_ns = np.append(min(0, int(counted_ns[0])), counted_ns[1:])
    time_ns = np.union1d(counted_ns, timeline.time_ns)
    last = np.searchsorted(counted_ns, time_ns, side="right") - 1
    reserved, allocated = totals["reserved_bytes"][rows][last], timeline.at_each(time_ns)
    if np.mean(reserved < allocated) > _MISREAD:
        return _unknown()
    # The two counters are not read at the same moment, so "reserved" may be below "allocated".
    return Fragmentation(time_ns, allocated, np.maximum(reserved, allocated))


def _unknown() -> Fragmentation:
    nothing = np.zeros(0, np.int64)
    return Fragmentation(nothing, nothing, nothing)
