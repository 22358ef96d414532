"""Paddle's own events: every allocation, every free and every kernel, from its C++ profiler.

Only one such profiler can run in a process, so the memory trace and the kernel trace share it.
While it records memory alone it costs almost nothing, and reading it takes time proportional to the
events. During a backward call it also records the grad nodes that run. That needs a new recording,
since the level of detail can only be chosen at its start. So a log is a sequence of
:class:`Segment`, split before and after every backward call whose grad nodes are recorded.

Paddle 3.3 never frees its own copies of allocator events, 128 bytes each: the destructor of its
``HostTraceEventNode`` does not free them. So the memory of a process that records grows.
"""

from __future__ import annotations

import gc
import threading
from _thread import get_native_id
from collections.abc import Callable
from contextlib import suppress
from os import getpid
from time import perf_counter_ns
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.memory.log.segments import (
    BackwardSpan,
    ClockReading,
    Segment,
    Waiting,
    read_clocks,
)
from paddle_lab.capture.recorder.faults import described

MEMORY_ONLY, WITH_GRAD_NODES = 0, 1
"""Values of ``FLAGS_host_trace_level``: only the allocator's events, or those of ops, too."""

_HOST, _GPU = 1, 2
"""Bits of ``trace_switch`` (``profiler.h`` of Paddle): what the profiler records."""

_LEVEL_FLAG, _MEMORY_FLAG = "FLAGS_host_trace_level", "FLAGS_enable_record_memory"


class AllocatorLog:
    """The profiler of one process, shared by all open traces: :data:`ALLOCATOR_LOG`.

    A reader opens the log, and can take new segments at any time. The log stops when the last
    reader closes it. Readers may do so in any order, in any thread.
    """

    def __init__(self) -> None:
        self.keeps_grad_nodes = False
        """Whether the log records grad nodes all the time, because other threads allocate, too."""
        self.lost_ns = -1
        """When the log stopped too early, by ``perf_counter_ns``; -1 if it did not stop early.

        Another profiler needed Paddle's profiler, or the profiler failed."""
        self.fault = ""
        """The error of Paddle's profiler; empty without one."""
        self._paddle: Any = None
        self._profiler: Any = None
        self._begin: ClockReading | None = None
        self._has_kernels = self._has_device = False
        self._readers: list[Waiting] = []
        self._backward_depth = 0
        self._outermost: BackwardSpan | None = None
        self._process = -1
        self._patch: AttributePatch | None = None
        self._user_flags: dict[str, Any] = {}
        self._introduced: set[int] = set()
        self._lock = threading.RLock()

    @property
    def is_recording(self) -> bool:
        """Whether allocations are being recorded right now."""
        return self._profiler is not None

    @property
    def _has_cut(self) -> bool:
        """Whether the running backward call has a segment of its own."""
        return self._outermost is not None and self._outermost.has_runs

    def open(self, paddle: Any, *, memory: bool = True, kernels: bool = False) -> Waiting | None:
        """Start recording, or begin a new segment if a recording is already running.

        Parameters
        ----------
        paddle
            The paddle module.
        memory, kernels
            What the reader wants to read. Paddle records kernels only at the level that also
            records grad nodes. So with kernels, grad nodes are recorded all the time.

        Returns
        -------
        Waiting or None
            Gets the segments for this reader; ``None`` if another profiler is running.
        """
        reader = Waiting(wants_memory=memory, wants_kernels=kernels)
        with self._lock:
            if not self._readers:
                self._paddle = paddle
                self.lost_ns, self.fault = -1, ""
                self.keeps_grad_nodes = kernels
                self._introduced.clear()  # the system may use an ended thread's id again
                self._process = getpid()
                self._user_flags = paddle.get_flags([_LEVEL_FLAG, _MEMORY_FLAG])
                self._readers.append(reader)
                try:
                    self._start()
                finally:
                    if self._profiler is None:
                        self._readers.remove(reader)
                        self.keeps_grad_nodes = False
                if self._profiler is None:
                    return None
                patch = DOOR.patch("profiler_of_users", lambda kind: _UsersProfiler(kind, self))
                patch.apply()
                self._patch = patch
            elif self._profiler is None:
                return None
            else:
                self._guarded(self._stop)
                self.keeps_grad_nodes |= kernels
                self._readers.append(reader)
                if not self.fault:
                    self._guarded(self._start)
            return reader

    def take(self, reader: Waiting) -> Waiting:
        """Return what was recorded since the last call, or since :meth:`open`.

        Inside a backward call no new segment begins, because a grad node and the events of one call
        must be in one segment.
        """
        with self._lock:
            if not self._backward_depth:
                self._cut()
            taken = Waiting(segments=reader.segments, spans=reader.spans)
            reader.segments, reader.spans = [], []
            return taken

    def close(self, reader: Waiting) -> None:
        """Add the last segments to a reader, and stop recording if it was the last reader."""
        with self._lock:
            if reader not in self._readers:
                return
            try:
                if len(self._readers) > 1:
                    self._cut()
                else:
                    self._guarded(self._stop)
            finally:
                self._readers.remove(reader)
                if not self._readers:
                    if self._patch is not None:
                        self._patch.revert()
                        self._patch = None
                    self._restore_flags()  # an interrupt may have hit between a stop and a start
                    self._backward_depth, self._outermost = 0, None
                    self.keeps_grad_nodes = False

    def enter_backward(
        self, calls: list[tuple[object, int]], signature: bytes = b"", *, is_familiar: bool = False
    ) -> BackwardSpan | None:
        """Also record the grad nodes that run, until :meth:`leave_backward`.

        Parameters
        ----------
        calls
            The recorders that listen, and their keys of the backward call that begins.
        signature
            Equal for calls with equal graphs.
        is_familiar
            Whether the grad nodes need not be recorded.
        """
        if self._profiler is None:
            return None
        with self._lock:
            self._backward_depth += 1
            outer = self._outermost
            has_runs = self.keeps_grad_nodes or (
                not is_familiar if outer is None else outer.has_runs
            )
            span = BackwardSpan(calls, get_native_id(), 0, has_runs=has_runs)
            if outer is None:
                self._outermost = span
                span.signature = signature
                if has_runs and not self.keeps_grad_nodes:
                    self._cut()
            else:
                outer.has_inner = True
            span.start_ns = perf_counter_ns()
            return span

    def leave_backward(self, span: BackwardSpan | None) -> None:
        """Record only memory again, if this was the outermost backward call."""
        if span is None:
            return
        with self._lock:
            span.end_ns = perf_counter_ns()
            for waiting in self._readers:
                waiting.spans.append(span)
            self._backward_depth = max(self._backward_depth - 1, 0)
            if self._backward_depth == 0:
                has_cut, self._outermost = self._has_cut, None
                if has_cut and not self.keeps_grad_nodes:
                    self._cut()

    def keep_grad_nodes(self) -> None:
        """Record grad nodes all the time from now on; begin no new segments at backward calls.

        Events are lost between two segments. So call this before another thread starts, and before
        a static program runs: its executor still frees memory after the program has ended.
        """
        if self.keeps_grad_nodes or not self._is_here():
            return
        with self._lock:
            if self._profiler is not None and not self.keeps_grad_nodes:
                self.keeps_grad_nodes = True
                if not self._has_cut:
                    if self._outermost is not None:
                        self._outermost.signature = b""  # the call is recorded only in part
                    self._cut()
                self.introduce_thread()

    def introduce_thread(self) -> None:
        """Record the calling thread's first event, before its first op.

        At a thread's first event Paddle adds the thread to a list without a lock. If two threads do
        so at once, the list breaks, and reading it kills the process. Here the thread holds the
        GIL, which ops release.
        """
        thread = get_native_id()
        if thread in self._introduced or not self._is_here():
            return
        with self._lock:
            if self._profiler is not None:
                self._introduced.add(thread)
                self._guarded(DOOR.record_event("thread", DOOR.event_types.UserDefined).end)

    def _is_here(self) -> bool:
        """Whether this process records. A forked one does not, and may never get the lock."""
        return self._profiler is not None and getpid() == self._process

    def step_aside(self) -> None:
        """Stop because other code needs the profiler. What was recorded so far is kept."""
        with self._lock:
            if self._profiler is not None:
                self._guarded(self._stop)
                self.lost_ns = perf_counter_ns()

    def _cut(self) -> None:
        if self._profiler is not None:
            self._guarded(self._stop)
            if not self.fault:
                self._guarded(self._start)

    def _guarded(self, action: Callable[[], None]) -> None:
        """Call the profiler. If the call fails, the log ends, but the user's code goes on."""
        try:
            action()
        except Exception as error:  # noqa: BLE001
            self._profiler = None
            self.fault, self.lost_ns = described(error), perf_counter_ns()
            self._restore_flags()

    def _start(self) -> None:
        level = WITH_GRAD_NODES if self.keeps_grad_nodes or self._has_cut else MEMORY_ONLY
        wants_memory = any(reader.wants_memory for reader in self._readers)
        self._has_kernels = any(reader.wants_kernels for reader in self._readers)
        # Without a GPU, CUPTI would kill the process.
        self._has_device = (
            self._has_kernels
            and bool(DOOR.can_profile_gpu())
            and self._paddle.device.cuda.device_count() > 0
        )
        self._paddle.set_flags({_LEVEL_FLAG: level, _MEMORY_FLAG: wants_memory})
        try:
            options = DOOR.profiler_options()  # the options read the level
            options.trace_switch = _HOST | (_GPU if self._has_device else 0)
            profiler = DOOR.profiler.create(options, [])
            if profiler is None:
                gc.collect()  # a deleted profiler may still exist, because it refers to itself
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

    def _stop(self) -> None:
        if self._profiler is None or self._begin is None:
            return
        try:
            result = self._profiler.stop()
            segment = Segment(
                result, self._begin, read_clocks(), self._has_kernels, self._has_device
            )
            for waiting in self._readers:
                waiting.segments.append(segment)
        finally:
            self._profiler = None
            self._restore_flags()

    def _restore_flags(self) -> None:
        with suppress(Exception):  # the flags were not read, or Paddle no longer has them
            self._paddle.set_flags({_MEMORY_FLAG: self._user_flags[_MEMORY_FLAG]})


class _UsersProfiler:
    """Paddle's ``_Profiler`` class for the user's code: making a profiler first stops the log."""

    def __init__(self, native: Any, log: AllocatorLog) -> None:
        self._native = native
        self._log = log

    def create(self, *args: Any) -> Any:
        """Make a profiler; ``None`` if another one still exists."""
        self._log.step_aside()
        return self._native.create(*args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)


ALLOCATOR_LOG = AllocatorLog()
