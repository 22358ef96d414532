"""Paddle's own memory history, of versions after 3.3: a second source for devices.

``paddle.device.cuda._record_memory_history`` keeps the allocator's events in a ring. It needs no
profiler, so it serves where somebody else's is running; it sees devices alone, and only where
``FLAGS_use_virtual_memory_auto_growth`` is on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_lab.capture.memory.log.clock import ClockReading, read_clocks, to_perf_ns
from paddle_lab.capture.memory.log.events import ALLOCATE, FREE, AllocatorEvents
from paddle_lab.capture.memory.log.places import PLACES

_KINDS = {"alloc": ALLOCATE, "free_completed": FREE}
_MOST_EVENTS = 1_000_000
_UNKNOWN_THREAD = -1


class MemoryHistory:
    """The events of all devices since it was opened.

    Parameters
    ----------
    cuda
        ``paddle.device.cuda``.
    """

    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda
        self._begin = read_clocks()
        self._is_ours = False

    @staticmethod
    def open(paddle: Any) -> MemoryHistory | None:
        """Begin to record, or join the user's own recording; ``None`` where Paddle cannot."""
        cuda = paddle.device.cuda
        if not hasattr(cuda, "_record_memory_history") or not paddle.is_compiled_with_cuda():
            return None
        history = MemoryHistory(cuda)
        if not any(cuda._snapshot()["device_traces"]):
            try:
                cuda._record_memory_history(enabled="all", stacks="none", max_entries=_MOST_EVENTS)
            except RuntimeError:  # the flag is off
                return None
            history._is_ours = True
        return history

    def close(self) -> AllocatorEvents:
        """Return the events since :meth:`open`; a recording of the user's own goes on."""
        traces = self._cuda._snapshot()["device_traces"]
        end = read_clocks()
        if self._is_ours:
            self._cuda._record_memory_history(enabled=None)
        return _events(traces, self._begin, end)


def _events(traces: list[Any], begin: ClockReading, end: ClockReading) -> AllocatorEvents:
    rows = [
        (int(event["time_us"]) * 1000, _KINDS[event["action"]], event["addr"], event["size"], place)
        for place, trace in enumerate(traces)
        for event in trace
        if event["action"] in _KINDS
    ]
    table = np.array(rows, dtype=np.int64).reshape(-1, 5)
    table = table[np.argsort(table[:, 0], kind="stable")]
    table = table[(table[:, 0] >= begin.wall_ns - 1000) & (table[:, 0] <= end.wall_ns)]
    numbers = [PLACES.number(f"Place(gpu:{device})") for device in range(len(traces))]
    nothing = np.zeros(len(table), dtype=np.int64)
    return AllocatorEvents(
        time_ns=to_perf_ns(table[:, 0], begin, end),
        kind=table[:, 1],
        address=table[:, 2],
        bytes=table[:, 3],
        allocated_bytes=nothing,
        reserved_bytes=nothing,
        place=np.array(numbers, np.int64)[table[:, 4]],
        thread=nothing + _UNKNOWN_THREAD,
        segment=nothing,
    )
