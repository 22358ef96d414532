"""Memory events of a GPU build's profiler, written by hand, because test machines have no GPU.

The rows follow Paddle's source: ``stat_allocator.h``, ``system_allocator.cc`` and
``profiler.cc``.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.memory.attribution.block_tensors import add_blocks_from_before
from paddle_lab.capture.memory.counters import read_places
from paddle_lab.capture.memory.held.blocks import pair_events
from paddle_lab.capture.memory.held.held_events import HeldEvents
from paddle_lab.capture.memory.living_tensors import _place
from paddle_lab.capture.memory.log.events import (
    ALLOCATE,
    FREE,
    HOST,
    PLACES,
    RESERVED_ALLOCATE,
    RESERVED_FREE,
)
from paddle_lab.capture.memory.log.reading import read_segments
from paddle_lab.capture.memory.log.segments import ClockReading, Segment
from paddle_lab.capture.memory.storages import Storage

CPU, PINNED, GPU = "Place(cpu)", "Place(gpu_pinned)", "Place(gpu:0)"
MIB = 1 << 20


def segment_of(number, rows):
    """Make a segment of ``(kind, place, address, bytes, allocated, reserved[, thread])``."""
    trees = {}
    for row, (kind, place, address, size, allocated, reserved, *thread) in enumerate(rows):
        event = SimpleNamespace(
            type=kind,
            place=place,
            addr=address,
            increase_bytes=size if kind in (ALLOCATE, RESERVED_ALLOCATE) else -size,
            current_allocated=allocated,
            current_reserved=reserved,
            timestamp_ns=1000 * number + 10 * row,
        )
        root = trees.setdefault(*thread or (1,), SimpleNamespace(mem_node=[], children_node=[]))
        root.mem_node.append(event)
    begin, end = (ClockReading(1000 * at, 1000 * at) for at in (number, number + 1))
    return Segment(SimpleNamespace(get_data=lambda: trees), begin, end)


def held(*segments):
    parts = [segment_of(number, rows) for number, rows in enumerate(segments)]
    kept = HeldEvents()
    kept.add(*read_segments(parts, has_devices=True))
    return kept


def test_pinned_memory_counts_as_the_hosts():
    # Its chunk is reserved in the host's name, and the counter is of both.
    kept = held(
        [
            (ALLOCATE, CPU, 0x10, 100, 600, 0),
            (RESERVED_ALLOCATE, CPU, 0x100, 64 * MIB, 600, 64 * MIB + 600),
            (ALLOCATE, PINNED, 0x100, 1000, 1600, 0),
        ],
        [(FREE, CPU, 0x10, 100, 1500, 0), (FREE, PINNED, 0x100, 1000, 500, 0)],
    )
    events = kept.events()
    assert kept.counted.missed_bytes == 0
    assert kept.counted.first == {HOST: 500}
    assert kept.counted.last[HOST] == 500
    assert PLACES.number(CPU) == HOST
    assert set(events.place.tolist()) == {HOST}
    blocks = pair_events(events)
    assert blocks.bytes.tolist() == [100, 1000], "the chunk is no block"
    assert events.allocated_bytes.tolist() == [600, 600, 1600, 1500, 500]


def test_pinned_memory_alone_is_the_hosts_too():
    events = held([(ALLOCATE, PINNED, 0x100, 1000, 1600, 0)]).events()
    assert events.place.tolist() == [PLACES.number(CPU)]


def test_a_thread_that_pins_is_ordered_among_the_others_as_paddle_counted():
    # The thread freed memory before the other thread allocated, but took the time after that.
    alone = [(ALLOCATE, CPU, 0x20, 8, 508, 0), (FREE, CPU, 0x20, 8, 500, 0)] * 4
    kept = held(
        [
            *alone,
            (ALLOCATE, PINNED, 0x100, 1000, 1500, 0, 2),
            (ALLOCATE, CPU, 0x10, 100, 600, 0, 1),
            (FREE, PINNED, 0x100, 1000, 500, 0, 2),
            (FREE, CPU, 0x10, 100, 500, 0, 1),
        ]
    )
    assert kept.events().allocated_bytes.tolist()[-4:] == [1500, 500, 600, 500]
    assert kept.counted.missed_bytes == 0


def test_a_pinned_tensor_from_before_lies_on_the_host():
    kept = held([(ALLOCATE, CPU, 0x10, 100, 600, 0)])
    events = kept.events()
    stored = [Storage(7, 0x900, 4096, 5, PINNED)]
    blocks, found = add_blocks_from_before(pair_events(events), stored)
    assert blocks.place[found[0]] == HOST


def test_what_was_allocated_when_memory_was_reserved_is_not_what_the_event_says():
    # It says what the last allocation or free said that was recorded, be it of an earlier trace.
    old = 9999
    kept = held(
        [
            (RESERVED_ALLOCATE, GPU, 0x100, 2 * MIB, old, 2 * MIB),
            (ALLOCATE, GPU, 0x100, 256, 756, 0),
        ],
        [(RESERVED_FREE, GPU, 0x900, MIB, 756, MIB), (FREE, GPU, 0x100, 256, 500, MIB)],
    )
    events = kept.events()
    (gpu,) = set(events.place.tolist())
    assert kept.counted.missed_bytes == 0
    assert (kept.counted.first[gpu], kept.counted.last[gpu]) == (500, 500)
    assert events.allocated_bytes.tolist() == [500, 756, 756, 500]
    assert events.reserved_bytes.tolist() == [2 * MIB, 0, MIB, MIB]


def test_where_memory_is_only_reserved_the_event_is_all_there_is():
    kept = held([(RESERVED_FREE, GPU, 0x900, MIB, 756, MIB)])
    assert kept.events().allocated_bytes.tolist() == [756]


class StandInCore:
    """What ``paddle.base.core`` answers where there are two devices of a plug-in."""

    __spec__ = None

    def host_memory_stat_current_value(self, counter, index):
        return 10 + index + (counter == "Reserved")

    def device_memory_stat_current_value(self, counter, index):
        return 100 * (index + 1) + (counter == "Reserved")

    def get_custom_device_count(self, kind):
        return {"npu": 2}[kind]

    def get_cuda_device_count(self):
        raise OSError("(External) CUDA error(35), CUDA driver version is insufficient.")


@pytest.fixture
def _stand_in_core(monkeypatch):
    core = StandInCore()
    monkeypatch.setitem(sys.modules, "paddle.base.core", core)
    monkeypatch.setattr(DOOR, "host_counter", core.host_memory_stat_current_value)
    monkeypatch.setattr(DOOR, "device_counter", core.device_memory_stat_current_value)


def readings_of(**paddle):
    readings = read_places(SimpleNamespace(**paddle))
    return [(each.place, each.allocated_bytes, each.reserved_bytes) for each in readings]


@pytest.mark.usefixtures("_stand_in_core")
def test_devices_of_a_plug_in_are_read():
    assert readings_of(
        is_compiled_with_cuda=lambda: False,
        is_compiled_with_xpu=lambda: False,
        device=SimpleNamespace(get_all_custom_device_type=lambda: ["npu"]),
    ) == [("cpu", 10, 11), ("npu:0", 100, 101), ("npu:1", 200, 201)]


@pytest.mark.usefixtures("_stand_in_core")
def test_a_driver_that_does_not_fit_leaves_the_host():
    assert readings_of(is_compiled_with_cuda=lambda: True) == [("cpu", 10, 11)]


@pytest.mark.parametrize(
    ("place", "name"), [(CPU, "cpu"), (PINNED, "cpu"), (GPU, "gpu:0"), ("Place(xpu:1)", "xpu:1")]
)
def test_a_living_tensor_is_where_paddle_counts_it(place, name):
    assert _place(SimpleNamespace(place=place)) == name
