"""The segments of a recording, and the clocks at both ends of each segment."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter_ns, time_ns
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from paddle_lab.capture.memory.log.events import EventTable


_TRIES = 8


class ClockReading(NamedTuple):
    """The same moment on two clocks: the wall clock, and ``perf_counter_ns``."""

    wall_ns: int
    perf_ns: int


def read_clocks() -> ClockReading:
    """Read both clocks several times, and return the two readings that are closest together."""
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
        Readings before the first and after the last of them. Between them the wall clock may run a
        little faster or slower, while the system corrects it.
    """
    begin_offset_ns = begin.perf_ns - begin.wall_ns
    drift_ns = end.perf_ns - end.wall_ns - begin_offset_ns
    elapsed_ns = max(end.wall_ns - begin.wall_ns, 1)
    since_ns = wall_ns - begin.wall_ns
    shift_ns = (since_ns * (drift_ns / elapsed_ns)).astype(np.int64)
    return wall_ns + (begin_offset_ns + shift_ns)


@dataclass
class Segment:
    """The profiler's recording between two cuts."""

    result: Any
    """Paddle's ``_ProfilerResult``."""
    begin: ClockReading
    end: ClockReading
    has_kernels: bool = False
    """Whether a reader asked for kernels. Kernels are read only in this case."""
    has_device: bool = False
    """Whether the profiler recorded a GPU, too."""
    part: EventTable | None = None
    """The data read from ``result``. Then ``result``, which is ten times as large, is ``None``."""


@dataclass
class BackwardSpan:
    """A backward call that ran while the log was recording."""

    calls: list[tuple[object, int]]
    """The recorders that were listening, with each one's key of the backward call."""
    thread: int
    """The operating system's thread id."""
    start_ns: int
    end_ns: int = -1
    signature: bytes = b""
    """Equal for calls with equal graphs; see :class:`FamiliarCalls`."""
    has_runs: bool = True
    """Whether the grad nodes of the call were recorded."""
    has_inner: bool = False
    """Whether another call began before this call ended."""


KeyedSpan = tuple[int, BackwardSpan]
"""A backward call, and the key that one recorder has for the call."""


@dataclass(eq=False)
class Waiting:
    """The segments that one reader of the log has not taken yet."""

    wants_memory: bool = True
    wants_kernels: bool = False
    segments: list[Segment] = field(default_factory=list)
    spans: list[BackwardSpan] = field(default_factory=list)
    """The backward calls that have ended."""

    def spans_of(self, recorder: object) -> list[KeyedSpan]:
        """Return a recorder's backward calls."""
        return [
            (key, span) for span in self.spans for owner, key in span.calls if owner is recorder
        ]
