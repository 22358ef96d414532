"""The profiler's recording between two cuts, and the backward calls in that time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddle_lab.capture.memory.log.clock import ClockReading
    from paddle_lab.capture.memory.log.events import EventTable


@dataclass
class Segment:
    """The profiler's recording between two cuts."""

    result: Any
    """Paddle's ``_ProfilerResult``."""
    begin: ClockReading
    end: ClockReading
    has_kernels: bool = False
    """Whether a reader asked for kernels; they are read only then."""
    has_device: bool = False
    """Whether the profiler listened to a GPU, too."""
    part: EventTable | None = None
    """The data read from it; ``result``, which takes ten times as much memory, is ``None`` then."""


@dataclass
class BackwardSpan:
    """A backward call while the log was recording."""

    calls: list[tuple[object, int]]
    """The recorders that were open, and the key of this backward call in each."""
    thread: int
    """The operating system's thread id."""
    start_ns: int
    end_ns: int = -1
    signature: bytes = b""
    """Equal for calls with equal graphs; see :class:`FamiliarCalls`."""
    has_runs: bool = True
    """Whether its grad nodes were recorded."""
    has_inner: bool = False
    """Whether another call began before it ended."""


KeyedSpan = tuple[int, BackwardSpan]
"""A recorder's key of a backward call, and the call."""


@dataclass(eq=False)
class Waiting:
    """The recorded data that one reader of the log has not taken yet."""

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
