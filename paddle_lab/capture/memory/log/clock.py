"""Two clocks: Paddle stamps its allocator events by the wall clock, a trace by ``perf_counter``."""

from __future__ import annotations

from time import perf_counter_ns, time_ns
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

_TRIES = 8


class ClockReading(NamedTuple):
    """One moment on both clocks."""

    wall_ns: int
    perf_ns: int


def read_clocks() -> ClockReading:
    """Read both clocks as close together as possible: the shortest of several tries."""
    tries = [(perf_counter_ns(), time_ns(), perf_counter_ns()) for _ in range(_TRIES)]
    before_ns, wall_ns, after_ns = min(tries, key=lambda one: one[2] - one[0])
    return ClockReading(wall_ns, (before_ns + after_ns) // 2)


def to_perf_ns(
    wall_ns: npt.NDArray[np.int64], begin: ClockReading, end: ClockReading
) -> npt.NDArray[Any]:
    """Return wall clock times on the clock of ``perf_counter_ns``.

    Parameters
    ----------
    wall_ns
        Times between the two readings, shape ``[events]``.
    begin, end
        Readings before the first and after the last of them. The wall clock may run a little
        faster or slower between them, while the system corrects it.
    """
    begin_offset_ns = begin.perf_ns - begin.wall_ns
    drift_ns = end.perf_ns - end.wall_ns - begin_offset_ns
    elapsed_ns = max(end.wall_ns - begin.wall_ns, 1)
    since_ns = wall_ns - begin.wall_ns
    shift_ns = (since_ns * (drift_ns / elapsed_ns)).astype(np.int64)
    return wall_ns + (begin_offset_ns + shift_ns)
