"""NVML's counters, told by a stand-in for the driver."""

from __future__ import annotations

import shutil
import subprocess

import pynvml
import pytest

from paddle_lab.sampling.counter import ABSENT
from paddle_lab.sampling.nvml import NvmlCounters
from tests.sampling.stand_in_nvml import GIB, StandInNvml

SECOND_NS = 1_000_000_000
MIB = 1 << 20


def named(counters):
    return [(counter.device, counter.name) for counter in counters.counters()]


def test_two_devices_tell_bytes_in_use_and_utilisation():
    counters = NvmlCounters(StandInNvml([3 * GIB, 0], [97, 0]))

    assert counters.read(0) == [3 * GIB, 97, 0, 0]

    assert named(counters) == [
        ("nvidia:0", "used"),
        ("nvidia:0", "utilisation"),
        ("nvidia:1", "used"),
        ("nvidia:1", "utilisation"),
    ]
    assert [counter.limit for counter in counters.counters()] == [80 * GIB, 100, 80 * GIB, 100]
    assert not any(counter.absence for counter in counters.counters())


def test_an_old_driver_tells_what_it_keeps_for_itself_as_used():
    library = StandInNvml([GIB], is_old=True)
    counters = NvmlCounters(library)

    assert counters.read(0)[0] == GIB + library.reserved_bytes
    assert counters.read(SECOND_NS)[0] == GIB + library.reserved_bytes
    assert library.asked == 3, "it is asked once for what it does not have"


@pytest.mark.skipif(not shutil.which("nvidia-smi"), reason="this machine has no NVIDIA driver")
def test_a_real_device_has_the_figures_of_nvidia_smi():
    query = ["nvidia-smi", "--query-gpu=memory.used,memory.total", "--format=csv,noheader,nounits"]
    lines = subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()
    counters = NvmlCounters()

    used_bytes = counters.read(0)[::2]

    limits = [counter.limit for counter in counters.counters()[::2]]
    for line, used, limit in zip(lines, used_bytes, limits, strict=True):
        used_mib, total_mib = map(int, line.split(","))
        assert abs(used - used_mib * MIB) <= 16 * MIB, "others may allocate meanwhile, a little"
        assert abs(limit - total_mib * MIB) <= MIB


def test_no_library_is_one_absent_counter_with_a_sentence():
    counters = NvmlCounters(StandInNvml([GIB], failing_start=pynvml.NVML_ERROR_LIBRARY_NOT_FOUND))

    assert counters.read(0) == (ABSENT,)
    (counter,) = counters.counters()
    assert "no NVIDIA driver" in counter.absence


def test_a_machine_that_lists_no_device_says_so():
    (counter,) = NvmlCounters(StandInNvml([])).counters()

    assert counter.absence == "The NVIDIA driver lists no device."


def test_a_device_that_vanishes_is_absent_and_the_other_goes_on():
    library = StandInNvml([GIB, 2 * GIB])
    counters = NvmlCounters(library)
    assert counters.read(0)[0] == GIB

    library.failing[0] = pynvml.NVML_ERROR_GPU_IS_LOST
    library.used_bytes[1] = 3 * GIB
    used, utilisation, other, _ = counters.read(SECOND_NS)

    assert (used, utilisation, other) == (ABSENT, ABSENT, 3 * GIB)
    lost, _, sound, _ = counters.counters()
    assert "GPU is lost" in lost.absence
    assert sound.absence == ""


def test_a_device_that_comes_back_is_read_again():
    library = StandInNvml([GIB], failing={0: pynvml.NVML_ERROR_UNKNOWN})
    counters = NvmlCounters(library)
    assert counters.read(0)[0] == ABSENT

    del library.failing[0]

    # Not at once: a driver in trouble is left alone for a while.
    assert counters.read(SECOND_NS)[0] == ABSENT
    assert counters.read(6 * SECOND_NS)[0] == GIB
    assert counters.counters()[0].absence == ""


def test_a_device_without_utilisation_keeps_its_memory():
    library = StandInNvml([GIB], failing_utilisation={0: pynvml.NVML_ERROR_NOT_SUPPORTED})
    counters = NvmlCounters(library)

    assert counters.read(0) == [GIB, ABSENT]
    assert [bool(counter.absence) for counter in counters.counters()] == [False, True]


def test_the_driver_is_asked_ten_times_a_second_however_often_one_reads():
    library = StandInNvml([GIB])
    counters = NvmlCounters(library)

    for tick in range(50):
        counters.read(tick * SECOND_NS // 50)

    assert library.asked == 10


@pytest.mark.skipif(not NvmlCounters().counters()[0].absence, reason="a driver is here")
def test_this_machine_without_a_driver_has_a_sentence():
    assert NvmlCounters().counters()[0].absence.endswith(".")
