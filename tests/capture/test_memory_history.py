"""Paddle's own memory history, which no released Paddle has and no machine without a GPU can run.

So everything here is held to a stand-in that does what Paddle's own tests of it say.
"""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from paddle_lab.capture.memory.log.history import MemoryHistory
from paddle_lab.capture.memory.log.places import PLACES


class StandInForPaddlesMemoryHistory:
    """The part of ``paddle.device.cuda`` that is used."""

    def __init__(self, *, flag: bool = True) -> None:
        self._flag = flag
        self._is_on = False
        self.trace: list[dict[str, object]] = []

    def _record_memory_history(self, enabled="all", **_options):
        if enabled is not None and not self._flag:
            raise RuntimeError("needs FLAGS_use_virtual_memory_auto_growth")
        self._is_on = enabled is not None
        self.trace = []

    def _snapshot(self):
        return {"segments": [], "device_traces": [list(self.trace), []]}

    def happen(self, action, addr, size):
        if self._is_on:
            self.trace.append(
                {
                    "action": action, "addr": addr, "size": size, "stream": 0,
                    "time_us": time.time_ns() // 1000, "op_name": "matmul", "frames": [],
                }
            )  # fmt: skip


def paddle_with(cuda):
    return SimpleNamespace(device=SimpleNamespace(cuda=cuda), is_compiled_with_cuda=lambda: True)


def test_events_are_read_on_the_traces_clock():
    cuda = StandInForPaddlesMemoryHistory()
    history = MemoryHistory.open(paddle_with(cuda))
    begin_ns = time.perf_counter_ns()
    for event in (("alloc", 7, 512), ("annotation", 0, 0), ("free_completed", 7, 512)):
        cuda.happen(*event)
    events = history.close()
    assert list(zip(events.kind, events.address, events.bytes, strict=True)) == [
        (0, 7, 512),
        (1, 7, 512),
    ]
    assert events.place.tolist() == [PLACES.number("Place(gpu:0)")] * 2
    # Whole microseconds of another clock.
    assert all(begin_ns - 10_000 <= moment for moment in events.time_ns)
    assert cuda._is_on is False


def test_a_recording_of_the_users_own_goes_on_and_keeps_what_it_had():
    cuda = StandInForPaddlesMemoryHistory()
    cuda._record_memory_history()
    cuda.happen("alloc", 5, 256)
    time.sleep(0.001)
    history = MemoryHistory.open(paddle_with(cuda))
    time.sleep(0.001)
    cuda.happen("alloc", 7, 512)
    events = history.close()
    assert events.address.tolist() == [7]
    assert cuda._is_on
    assert len(cuda.trace) == 2


@pytest.mark.parametrize(
    "cuda", [SimpleNamespace(), StandInForPaddlesMemoryHistory(flag=False)], ids=["old", "flag off"]
)
def test_where_paddle_cannot_there_is_none(cuda):
    assert MemoryHistory.open(paddle_with(cuda)) is None
