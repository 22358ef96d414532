"""Records which kernels ran, and how long they ran, if a trace records kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.memory.log.allocator_log import ALLOCATOR_LOG
from paddle_lab.capture.memory.log.events import DeviceKernels, GradNodeRuns, KernelCalls
from paddle_lab.capture.memory.log.reading import read_kernel_segments
from paddle_lab.capture.memory.log.segments import KeyedSpan, Waiting
from paddle_lab.capture.recorder.recorder import Recorder
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.capture.evidence.collector import Forgotten
    from paddle_lab.capture.limit.kept_ops import KeptOps

_SETTLE_OPS = 10_000
"""After this many ops the profiler's objects, about 1 kB an op, are read and freed."""


class KernelCapture:
    """The kernels of a trace.

    Parameters
    ----------
    paddle
        The paddle module.
    recorder
        The trace's recorder.
    """

    feature = "kernels"

    def __init__(self, paddle: Any, recorder: Recorder) -> None:
        self.recorder = recorder
        self.calls = KernelCalls.joined(())
        self.on_device = DeviceKernels.joined(())
        self.runs = GradNodeRuns.joined(())
        """The grad nodes that ran."""
        self.backward_spans: list[KeyedSpan] = []
        """The recorder's keys of backward calls, with the times and threads of these calls."""
        self.has_device = False
        """Whether the profiler recorded a device."""
        self.notices: list[str] = []
        self._paddle = paddle
        self._reader: Waiting | None = None
        self._waiting = Waiting()

    def open(self) -> None:
        """Start recording."""
        if not DOOR.has("kernels") or not DOOR.has("allocations"):
            return  # a notice of the door says so
        self._reader = ALLOCATOR_LOG.open(self._paddle, memory=False, kernels=True)
        if self._reader is None:
            self.notices.append(say("notices.kernels.no_profiler"))

    def close(self) -> None:
        """Stop recording, and keep the recorded data. Further calls do nothing."""
        if self._reader is None:
            return
        self._waiting, self._reader = self._reader, None
        ALLOCATOR_LOG.close(self._waiting)
        if ALLOCATOR_LOG.lost_ns >= self.recorder.start_ns:
            seconds = (ALLOCATOR_LOG.lost_ns - self.recorder.start_ns) / 1e9
            fault = ALLOCATOR_LOG.fault
            values = {"fault": fault} if fault else {}
            name = "profiler_failed" if fault else "stepped_aside"
            self.notices.append(say(f"notices.kernels.{name}", seconds=f"{seconds:.3f}", **values))

    def stop(self) -> None:
        """Stop recording before the traced code ends."""
        self.close()

    def settle(self, _ops: int) -> int:
        """Read the recorded kernels to save memory. Return after how many ops to do it again."""
        if self._reader is not None:
            self._hold(ALLOCATOR_LOG.take(self._reader))
        return _SETTLE_OPS

    def forget(self, kept: KeptOps, _gone: Forgotten) -> None:
        """Drop kernels of ops that the trace does not keep."""
        self.calls = self.calls.chosen(kept.has_time(self.calls.start_ns))
        self.on_device = self.on_device.chosen(kept.has_time(self.on_device.launch_ns))
        self.runs = self.runs.chosen(kept.has_time(self.runs.start_ns))

    def finish(self) -> None:
        """Read the rest of the recorded kernels. Call this after :meth:`close`."""
        waiting, self._waiting = self._waiting, Waiting()
        self._hold(waiting)

    def _hold(self, waiting: Waiting) -> None:
        has_devices = self.recorder.tensors.reads_place
        segments = waiting.segments
        calls, on_device, runs = read_kernel_segments(segments, has_devices=has_devices)
        self.calls = KernelCalls.joined((self.calls, calls))
        self.on_device = DeviceKernels.joined((self.on_device, on_device))
        runs = GradNodeRuns.joined((self.runs, runs))
        self.runs = runs.chosen(np.argsort(runs.start_ns, kind="stable"))
        self.has_device |= any(segment.has_device for segment in segments)
        self.backward_spans += waiting.spans_of(self.recorder)
