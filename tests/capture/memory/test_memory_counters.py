"""Paddle's counters as the sampler reads them."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import paddle
import pytest
from paddle.base import core

from paddle_lab.capture.memory.counters import PaddleCounters, memory_sampler
from paddle_lab.sampling.counter import ABSENT

BEFORE_IMPORT = """
import sys
from paddle_lab.capture.memory.counters import PaddleCounters
counters = PaddleCounters()
assert set(counters.read(0)) == {-1}
assert "paddle" not in sys.modules
assert {each.absence for each in counters.counters()} == {"Paddle is not imported yet."}
import paddle
x = paddle.ones([1000])
values = counters.read(0)
assert values[0] >= 4000, values
assert counters.counters()[0].absence == ""
"""


def of_host(values, counters):
    named = zip(counters.counters(), values, strict=True)
    return {counter.name: value for counter, value in named if counter.device == "cpu"}


def test_values_are_those_of_paddles_own_counters():
    kept = paddle.ones([256, 1024])
    counters = PaddleCounters()

    assert of_host(counters.read(0), counters) == {
        "allocated": core.host_memory_stat_current_value("Allocated", 0),
        "reserved": core.host_memory_stat_current_value("Reserved", 0),
        "peak allocated": core.host_memory_stat_peak_value("Allocated", 0),
    }
    assert of_host(counters.read(0), counters)["allocated"] >= 4 * kept.size


def test_reading_leaves_the_users_peak_alone():
    large = paddle.ones([1024, 1024])
    peak = core.host_memory_stat_peak_value("Allocated", 0)
    del large
    sampler = memory_sampler()
    for _ in range(3):
        sampler.sample()

    assert core.host_memory_stat_peak_value("Allocated", 0) == peak


@pytest.mark.skipif(paddle.is_compiled_with_cuda(), reason="this Paddle has devices")
def test_a_cpu_build_says_that_it_counts_no_device():
    counters = PaddleCounters()
    values = counters.read(0)

    absent = [each for each in counters.counters() if each.absence]

    assert ["built for the CPU" in each.absence for each in absent] == [True]
    assert values[-1] == ABSENT


def test_paddle_is_never_imported_by_a_look():
    subprocess.run([sys.executable, "-W", "ignore", "-c", BEFORE_IMPORT], check=True)


class StandInGpuCore:
    """What a GPU build's ``paddle.base.core`` answers; no device is behind it."""

    def __init__(self):
        self.lost = set()

    def get_cuda_device_count(self):
        return 2

    def host_memory_stat_current_value(self, counter, index):  # noqa: ARG002
        return 1

    host_memory_stat_peak_value = host_memory_stat_current_value

    def device_memory_stat_current_value(self, counter, index):
        if index in self.lost:
            raise OSError("the device is lost")
        return 1000 * (index + 1) + (counter == "Reserved")

    def device_memory_stat_peak_value(self, counter, index):  # noqa: ARG002
        return 5000 * (index + 1)


@pytest.fixture
def stand_in(monkeypatch):
    """Put a Paddle of devices in the place of this one."""

    def put(core, **devices):
        paddle = SimpleNamespace(__spec__=None, **devices)
        core.__spec__ = None
        monkeypatch.setitem(sys.modules, "paddle", paddle)
        monkeypatch.setitem(sys.modules, "paddle.base.core", core)
        return core

    return put


def test_a_gpu_build_has_counters_of_each_device(stand_in):
    core = stand_in(StandInGpuCore(), is_compiled_with_cuda=lambda: True)
    counters = PaddleCounters()

    assert list(counters.read(0)) == [1, 1, 1, 1000, 1001, 5000, 2000, 2001, 10000]
    assert [each.device for each in counters.counters()] == [
        *["cpu"] * 3,
        *["gpu:0"] * 3,
        *["gpu:1"] * 3,
    ]
    core.lost.add(1)
    assert list(counters.read(0))[3:] == [1000, 1001, 5000, ABSENT, ABSENT, 10000]


def test_devices_of_a_plug_in_have_counters(stand_in):
    core = StandInGpuCore()
    core.get_custom_device_count = {"npu": 2}.get
    stand_in(
        core,
        is_compiled_with_cuda=lambda: False,
        is_compiled_with_xpu=lambda: False,
        device=SimpleNamespace(get_all_custom_device_type=lambda: ["npu"]),
    )
    counters = PaddleCounters()

    assert list(counters.read(0))[3:] == [1000, 1001, 5000, 2000, 2001, 10000]
    assert {each.device for each in counters.counters()} == {"cpu", "npu:0", "npu:1"}
    assert not any(each.absence for each in counters.counters())


def test_a_driver_that_paddle_cannot_use_is_said_and_the_host_goes_on(stand_in):
    core = StandInGpuCore()

    def refuse():
        raise OSError("(External) CUDA error(35), CUDA driver version is insufficient.\n  [Hint]")

    core.get_cuda_device_count = refuse
    stand_in(core, is_compiled_with_cuda=lambda: True)
    counters = PaddleCounters()

    assert list(counters.read(0)) == [1, 1, 1, ABSENT]
    assert counters.counters()[-1].absence.endswith("driver version is insufficient.")
    assert list(counters.read(0)) == [1, 1, 1, ABSENT]


def test_a_counter_that_paddle_lacks_is_absent(monkeypatch):
    monkeypatch.delattr(core, "host_memory_stat_peak_value")
    kept = paddle.ones([1000])
    counters = PaddleCounters()
    told = of_host(counters.read(0), counters)
    assert told["peak allocated"] == ABSENT
    assert told["allocated"] >= kept.numel().item() * 4
