"""How much was allocated and reserved at each moment: the running total and its peak."""

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
    """Allocated memory of one place as a step function: it changes at ``time_ns`` and holds."""

    time_ns: Times
    """Moments at which it changed, ascending, int64, shape ``[events]``."""
    allocated_bytes: Bytes
    """Allocated from that moment on, int64, shape ``[events]``."""
    start_bytes: int
    """Allocated when the trace began."""
    unseen_bytes: int
    """Of these, what no block accounts for: older than the trace, and not touched in it."""

    @property
    def peak_bytes(self) -> int:
        """The most that was allocated at any moment."""
        return max(self.start_bytes, int(self.allocated_bytes.max(initial=0)))

    @property
    def peak_ns(self) -> int:
        """The first moment at which that much was allocated; 0 where it only shrank."""
        highest = int(self.allocated_bytes.argmax()) if len(self.time_ns) else -1
        if highest < 0 or self.allocated_bytes[highest] <= self.start_bytes:
            return 0
        return int(self.time_ns[highest])

    @property
    def end_bytes(self) -> int:
        """Allocated when the trace ended."""
        return int(self.allocated_bytes[-1]) if len(self.time_ns) else self.start_bytes

    @property
    def end_ns(self) -> int:
        """The last moment at which it changed."""
        return int(self.time_ns[-1]) if len(self.time_ns) else 0

    def at(self, time_ns: int) -> int:
        """Return how much was allocated at a moment."""
        event = int(np.searchsorted(self.time_ns, time_ns, side="right")) - 1
        return int(self.allocated_bytes[event]) if event >= 0 else self.start_bytes


def timeline(record: Record, keys: npt.NDArray[Any], place: int) -> Timeline:
    """Return the running total of some blocks.

    Parameters
    ----------
    record
        A record.
    keys
        The blocks of the place, shape ``[blocks]``.
    place
        The place's string code, for what Paddle's counter said when the trace began.
    """
    blocks = record.allocations
    size = blocks["bytes"][keys]
    start, end = blocks["start_ns"][keys], blocks["end_ns"][keys]
    from_before = start < 0
    seen_bytes = int(size[from_before].sum())
    counted = counted_at_start(record, place)
    start_bytes = seen_bytes if counted is None else counted

    # At one and the same moment memory is freed before it is allocated, except for blocks that
    # begin and end there; a stable sort keeps this order.
    freed = end >= 0
    for_a_moment = freed & (end == start)
    order_of_events = (
        (freed & ~for_a_moment, end, -size),
        (~from_before, start, size),
        (for_a_moment, end, -size),
    )
    times = np.concatenate([time[chosen] for chosen, time, _ in order_of_events])
    deltas = np.concatenate([delta[chosen] for chosen, _, delta in order_of_events])
    order = np.argsort(times, kind="stable")
    return Timeline(
        time_ns=times[order],
        allocated_bytes=start_bytes + np.cumsum(deltas[order], dtype=np.int64),
        start_bytes=start_bytes,
        unseen_bytes=max(0, start_bytes - seen_bytes),
    )


def counted_at_start(record: Record, place: int) -> int | None:
    """Return what Paddle's counter said when the trace began, None where it was not read."""
    counted = _counted(record, place)
    return int(counted[0]) if len(counted) else None


def counted_at_end(record: Record, place: int) -> int | None:
    """Return what Paddle's counter said last, None where it was not read."""
    counted = _counted(record, place)
    return int(counted[-1]) if len(counted) else None


def _counted(record: Record, place: int) -> Bytes:
    totals = record.memory_totals
    counted: Bytes = totals["allocated_bytes"][totals["place"] == place]
    return counted
