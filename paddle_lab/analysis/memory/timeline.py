"""How much was allocated at each moment: the running total and its peak."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.record import Record

Bytes = npt.NDArray[np.int64]
Times = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Timeline:
    """The allocated memory of a place: a step function that changes at each ``time_ns``."""

    time_ns: Times
    """Moments at which the allocated bytes changed, ascending, int64, shape ``[events]``."""
    allocated_bytes: Bytes
    """The allocated bytes from each moment on, int64, shape ``[events]``."""
    start_bytes: int
    """The bytes that were allocated when the trace began."""
    unseen_bytes: int
    """The part of ``start_bytes`` in unknown blocks, from before the trace and not used in it."""

    @property
    def peak_bytes(self) -> int:
        """The largest number of bytes that was allocated at any moment."""
        return max(self.start_bytes, int(self.allocated_bytes.max(initial=0)))

    @property
    def peak_ns(self) -> int:
        """The first moment of the peak; 0 if memory never rose above the start."""
        highest = int(self.allocated_bytes.argmax()) if len(self.time_ns) else -1
        if highest < 0 or self.allocated_bytes[highest] <= self.start_bytes:
            return 0
        return int(self.time_ns[highest])

    @property
    def end_bytes(self) -> int:
        """The bytes that were allocated when the trace ended."""
        return int(self.allocated_bytes[-1]) if len(self.time_ns) else self.start_bytes

    @property
    def end_ns(self) -> int:
        """The last moment at which the allocated bytes changed."""
        return int(self.time_ns[-1]) if len(self.time_ns) else 0

    def at(self, time_ns: int) -> int:
        """Return how many bytes were allocated at a moment."""
        return int(self.at_each(np.array([time_ns]))[0])

    def at_each(self, moments: Times) -> Bytes:
        """Return how many bytes were allocated at each moment, int64, shape ``[moments]``."""
        totals = np.append(self.start_bytes, self.allocated_bytes)
        found: Bytes = totals[np.searchsorted(self.time_ns, moments, side="right")]
        return found


def timeline(
    record: Record, keys: npt.NDArray[Any], *, counted_bytes: int | None = None
) -> Timeline:
    """Return the running total of some blocks.

    Parameters
    ----------
    record
        A record.
    keys
        The blocks, shape ``[blocks]``.
    counted_bytes
        The value of Paddle's counter when the trace began; by default the sum of the blocks.
    """
    blocks = record.allocations
    seen_bytes = int(blocks["bytes"][keys][blocks["start_ns"][keys] < 0].sum())
    start_bytes = seen_bytes if counted_bytes is None else counted_bytes
    time_ns, rows, is_end = changes(record, keys)
    size = blocks["bytes"][rows]
    return Timeline(
        time_ns=time_ns,
        allocated_bytes=start_bytes + np.cumsum(np.where(is_end, -size, size), dtype=np.int64),
        start_bytes=start_bytes,
        unseen_bytes=max(0, start_bytes - seen_bytes),
    )


def changes(
    record: Record, keys: npt.NDArray[Any]
) -> tuple[Times, npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Return the allocations and releases of some blocks in order.

    At the same moment, releases come before allocations. But a block that begins and ends at that
    moment is released last.

    Returns
    -------
    tuple
        Moments, keys of blocks, and whether each is a release, shape ``[changes]``.
    """
    start, end = (record.allocations[name][keys] for name in ("start_ns", "end_ns"))
    is_short = (end >= 0) & (end == start)
    before, begun, after = map(np.flatnonzero, ((end >= 0) & ~is_short, start >= 0, is_short))
    rows = np.concatenate([before, begun, after])
    is_end = np.ones(len(rows), np.bool_)
    is_end[len(before) : len(before) + len(begun)] = False
    time_ns = np.where(is_end, end[rows], start[rows])
    order = np.argsort(time_ns, kind="stable")
    return time_ns[order], keys[rows[order]], is_end[order]


def counted(record: Record, place: int) -> list[int]:
    """Return all values of Paddle's counter for a place, in order."""
    totals = record.memory_totals
    values: list[int] = totals["allocated_bytes"][totals["place"] == place].tolist()
    return values
