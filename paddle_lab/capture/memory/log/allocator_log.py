"""Paddle's own allocator events: every allocation and every free, from the C++ profiler.

Only one such profiler can run in a process. It costs almost nothing while it records memory alone,
and is then read in time proportional to the events. For the length of a backward call it records
the grad nodes that run as well; that takes a recording of its own, since the level of detail can
only be chosen when one begins. So a log is a sequence of :class:`Segment`, cut at every backward
call.

Paddle 3.3 never frees its own copies of allocator events, 128 bytes each: the destructor of its
``HostTraceEventNode`` leaves them out. A process that records memory grows by that, whoever asks.
"""

from __future__ import annotations

import gc
import threading
from _thread import get_native_id
from contextlib import suppress
from dataclasses import dataclass, field
from os import getpid
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.memory.log.clock import ClockReading, read_clocks
from paddle_lab.capture.memory.log.profiler_hooks import profiler_patches
from paddle_lab.capture.recorder.faults import described

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt

MEMORY_ONLY, WITH_GRAD_NODES = 0, 1
"""Values of ``FLAGS_host_trace_level``: no events but the allocator's; those of ops as well."""

_Result = TypeVar("_Result")

_LEVEL_FLAG, _MEMORY_FLAG = "FLAGS_host_trace_level", "FLAGS_enable_record_memory"


class SegmentPart(NamedTuple):
    """What a segment tells, times on the clock of ``perf_counter_ns``."""

    table: npt.NDArray[np.int64]
    """Allocator events, shape ``[events, columns]``."""
    places: list[str]
    """By the number that stands for them."""
    names: list[str]
    """Of the grad nodes that ran."""
    runs: npt.NDArray[np.int64]
    """Their starts, ends and threads, shape ``[3, runs]``."""


@dataclass
class Segment:
    """What the profiler recorded between two cuts."""

    result: Any
    """Paddle's ``_ProfilerResult``."""
    begin: ClockReading
    end: ClockReading
    part: SegmentPart | None = None
    """What was read of it while the trace ran; ``result`` is ``None`` then."""


@dataclass
class BackwardSpan:
    """A backward call while the log was recording."""

    calls: list[tuple[object, int]]
    """The recorders that listened, and what each calls this backward call."""
    thread: int
    """The operating system's thread id."""
    start_ns: int
    end_ns: int = -1
    signature: bytes = b""
    """Equal for calls that should be alike; see :class:`FamiliarCalls`."""
    has_runs: bool = True
    """Whether its grad nodes were recorded."""
    has_inner: bool = False
    """Whether another call began before it ended."""


@dataclass
class Waiting:
    """What was recorded for one reader, and not taken yet."""

    segments: list[Segment] = field(default_factory=list)
    spans: list[BackwardSpan] = field(default_factory=list)
    """The backward calls that have ended."""

    def spans_of(self, recorder: object) -> list[tuple[int, BackwardSpan]]:
        """Return a recorder's backward calls: its key of each, and the call."""
        return [
            (key, span) for span in self.spans for owner, key in span.calls if owner is recorder
        ]


class AllocatorLog:
    """The profiler of one process, shared by all open traces: :data:`ALLOCATOR_LOG`.

    A reader opens the log and takes the segments since then, now and then or in the end; the last
    to leave stops it. Readers come and go in any order, in any thread.
    """

    def __init__(self) -> None:
        self._paddle: Any = None
        self._profiler: Any = None
        self._begin: ClockReading | None = None
        self._readers: dict[int, Waiting] = {}
        self._next_reader = 0
        self._backward_depth = 0
        self._outermost: BackwardSpan | None = None
        self._keeps_grad_nodes = False
        self._process = -1
        self._patches: list[AttributePatch] = []
        self._lost_ns = -1
        self._fault = ""
        self._user_flags: dict[str, Any] = {}
        self._lock = threading.RLock()

    @property
    def is_recording(self) -> bool:
        """Whether allocations are being recorded right now."""
        return self._profiler is not None

    @property
    def keeps_grad_nodes(self) -> bool:
        """Whether it records grad nodes all the time, as other threads are at work."""
        return self._keeps_grad_nodes

    @property
    def _level(self) -> int:
        is_detailed = self._keeps_grad_nodes or self._has_cut
        return WITH_GRAD_NODES if is_detailed else MEMORY_ONLY

    @property
    def _has_cut(self) -> bool:
        """Whether the backward call that runs has a segment of its own."""
        return self._outermost is not None and self._outermost.has_runs

    def open(self, paddle: Any) -> int | None:
        """Start recording, or cut a recording that runs already.

        Returns
        -------
        int or None
            What :meth:`close` wants; ``None`` where somebody else's profiler is running.
        """
        with self._lock:
            if not self._readers:
                self._paddle = paddle
                self._lost_ns, self._fault = -1, ""
                self._keeps_grad_nodes = False
                self._process = getpid()
                self._user_flags = paddle.get_flags([_LEVEL_FLAG, _MEMORY_FLAG])
                self._start()
                if self._profiler is None:
                    return None
                self._patches = profiler_patches(self.step_aside)
                for patch in self._patches:
                    patch.apply()
            elif self._profiler is None:
                return None
            else:
                self._cut()
            reader = self._next_reader
            self._next_reader += 1
            self._readers[reader] = Waiting()
            return reader

    def take(self, reader: int) -> Waiting:
        """Return what was recorded since the last call, or since :meth:`open`.

        Inside of a backward call its segment goes on: a grad node that runs belongs to one segment,
        and so do the events of one call.
        """
        with self._lock:
            if not self._backward_depth:
                self._cut()
            waiting = self._readers.get(reader, Waiting())
            if reader in self._readers:
                self._readers[reader] = Waiting()
            return waiting

    def close(self, reader: int) -> Waiting:
        """Return what was not taken yet, and stop recording if nobody else reads."""
        with self._lock:
            waiting = self._readers.pop(reader, None)
            if waiting is None:
                return Waiting()
            if self._readers:
                last = self._cut()
            else:
                last = self._guarded(self._stop)
                for patch in self._patches:
                    patch.revert()
                self._patches = []
            if last is not None:
                waiting.segments.append(last)
            if not self._readers:
                self._restore_flags()  # an interrupt may have hit between a stop and a start
                self._backward_depth, self._outermost = 0, None
                self._keeps_grad_nodes = False
            return waiting

    def enter_backward(
        self, calls: list[tuple[object, int]], signature: bytes = b"", *, is_familiar: bool = False
    ) -> BackwardSpan | None:
        """Record the grad nodes that run, too, until :meth:`leave_backward`.

        Parameters
        ----------
        calls
            The recorders that listen, and their keys of the backward call that begins.
        signature
            What calls have in common that should be alike.
        is_familiar
            Whether the grad nodes need not be recorded.
        """
        if self._profiler is None:
            return None
        with self._lock:
            self._backward_depth += 1
            outer = self._outermost
            has_runs = self._keeps_grad_nodes or (
                not is_familiar if outer is None else outer.has_runs
            )
            span = BackwardSpan(calls, get_native_id(), 0, has_runs=has_runs)
            if outer is None:
                self._outermost = span
                span.signature = signature
                if has_runs and not self._keeps_grad_nodes:
                    self._cut()
            else:
                outer.has_inner = True
            span.start_ns = perf_counter_ns()
            return span

    def leave_backward(self, span: BackwardSpan | None) -> None:
        """Go back to memory alone, if this was the outermost backward call."""
        if span is None:
            return
        with self._lock:
            span.end_ns = perf_counter_ns()
            for waiting in self._readers.values():
                waiting.spans.append(span)
            self._backward_depth = max(self._backward_depth - 1, 0)
            if self._backward_depth == 0:
                has_cut, self._outermost = self._has_cut, None
                if has_cut and not self._keeps_grad_nodes:
                    self._cut()

    def keep_grad_nodes(self) -> None:
        """Record grad nodes all the time from now on, and be cut at no further backward call.

        What happens while the log is being cut is missed. So this is to be called before another
        thread begins, and before a static program runs: its executor goes on to free when the
        program has ended.
        """
        # In a forked worker there is nobody who reads, and a lock may be held for ever.
        if self._profiler is None or self._keeps_grad_nodes or getpid() != self._process:
            return
        with self._lock:
            if self._profiler is not None and not self._keeps_grad_nodes:
                self._keeps_grad_nodes = True
                if not self._has_cut:
                    if self._outermost is not None:
                        self._outermost.signature = b""  # recorded in part
                    self._cut()

    @property
    def lost_ns(self) -> int:
        """When it stopped too early, by ``perf_counter_ns``; -1 if it did not.

        It made way for another profiler, or Paddle's profiler failed.
        """
        return self._lost_ns

    @property
    def fault(self) -> str:
        """How Paddle's profiler failed; empty if it did not."""
        return self._fault

    def step_aside(self) -> None:
        """Stop for somebody who needs the profiler; what was recorded is kept."""
        with self._lock:
            if self._profiler is not None:
                self._guarded(self._stop)
                self._lost_ns = perf_counter_ns()

    def _cut(self) -> Segment | None:
        if self._profiler is None:
            return None
        ended = self._guarded(self._stop)
        if not self._fault:
            self._guarded(self._start)
        return ended

    def _guarded(self, action: Callable[[], _Result]) -> _Result | None:
        """Ask the profiler for something; where it fails, the log ends, not the user's code."""
        try:
            return action()
        except Exception as error:  # noqa: BLE001
            self._profiler = None
            self._fault, self._lost_ns = described(error), perf_counter_ns()
            self._restore_flags()
            return None

    def _start(self) -> None:
        self._paddle.set_flags({_LEVEL_FLAG: self._level, _MEMORY_FLAG: True})
        try:
            options = DOOR.profiler_options()  # reads the level
            options.trace_switch = 1  # the host's events alone
            profiler = DOOR.profiler.create(options, [])
            if profiler is None:
                gc.collect()  # Paddle's own class holds itself: one may be gone but for that
                profiler = DOOR.profiler.create(options, [])
        finally:
            self._paddle.set_flags({_LEVEL_FLAG: self._user_flags[_LEVEL_FLAG]})
        if profiler is None:
            self._restore_flags()
            return
        profiler.prepare()
        self._begin = read_clocks()
        profiler.start()
        self._profiler = profiler

    def _stop(self) -> Segment | None:
        if self._profiler is None or self._begin is None:
            return None
        try:
            result = self._profiler.stop()
            segment = Segment(result, self._begin, read_clocks())
            for waiting in self._readers.values():
                waiting.segments.append(segment)
            return segment
        finally:
            self._profiler = None
            self._restore_flags()

    def _restore_flags(self) -> None:
        with suppress(Exception):  # no flags were read, or Paddle has them no more
            self._paddle.set_flags({_MEMORY_FLAG: self._user_flags[_MEMORY_FLAG]})


ALLOCATOR_LOG = AllocatorLog()
