"""On a device: allocations add up to Paddle's own counter, and name the ops that made them."""

from __future__ import annotations

import gc

import numpy as np
import paddle
import pytest

import paddle_lab
from paddle_lab.analysis.source.stacks import USER, stack_frames
from paddle_lab.capture.memory import capture
from paddle_lab.capture.memory.log.events import ALLOCATE, FREE, PLACES, AllocatorEvents
from tests.models import MODELS

SOME_MODELS = ("lenet", "resnet18", "lstm", "transformer_encoder", "unet", "autocast")


@pytest.fixture
def seen_events(monkeypatch):
    """The allocator's raw events, each with Paddle's counter after it."""
    seen = []
    read = capture.read_segments

    def read_and_keep(segments, **options):
        events, runs = read(segments, **options | {"has_devices": True})
        seen.append(events)
        return events, runs

    monkeypatch.setattr(capture, "read_segments", read_and_keep)
    return seen


def counted(events, place):
    """Return the counter of a place after each moment at which it changed."""
    here = events.place == PLACES.number(f"Place({place})")
    changes = np.flatnonzero(here & np.isin(events.kind, (ALLOCATE, FREE)))
    after = dict(
        zip(events.time_ns[changes].tolist(), events.allocated_bytes[changes].tolist(), strict=True)
    )
    return list(after.values())


@pytest.mark.parametrize("name", [name for name in MODELS if name in SOME_MODELS])
def test_the_running_total_is_paddles_counter_and_blocks_are_named(device, name, seen_events):
    step = MODELS[name]()
    step()  # what is made once: optimizer states, caches
    gc.collect()
    device.reset_peak()
    with paddle_lab.memory() as trace:
        step()
        end_bytes = device.allocated_bytes
    peak_bytes = device.peak_bytes
    record, memory = trace.record, trace.memory
    assert record.origin.notices == []
    assert memory.place == device.name

    events = AllocatorEvents.joined(seen_events)
    timeline = memory.timeline
    moments = np.append(np.flatnonzero(np.diff(timeline.time_ns)), len(timeline.time_ns) - 1)
    assert timeline.allocated_bytes[moments].tolist() == counted(events, device.name)
    assert (memory.peak_bytes, memory.end_bytes) == (peak_bytes, end_bytes)

    blocks = record.allocations
    during = blocks["start_ns"] >= 0
    size = np.where(during, blocks["bytes"], 0)
    is_users = np.append(record.frames["kind"][stack_frames(record)] == USER, False)
    assert size[blocks["op"] >= 0].sum() >= 0.99 * size.sum()
    assert size[is_users[blocks["stack"]]].sum() >= 0.95 * size.sum()


def test_pinned_memory_counts_as_the_hosts(gpu):
    data = paddle.rand([1000, 1000])
    with paddle_lab.memory() as trace:
        pinned = [(data + number).pin_memory() for number in range(3)]
        (pinned[0].cuda() @ data).mean().numpy()
        del pinned[1]
    assert trace.record.origin.notices == []
    host = trace.memory.on("cpu")
    assert host.end_bytes - host.start_bytes == 2 * 4_000_000
    assert gpu.name == trace.memory.place


def test_what_did_not_fit_is_read_from_the_error(device):
    with pytest.raises(MemoryError), paddle_lab.memory() as trace:
        paddle.empty([1 << 46], "float32")
    found = trace.memory.out_of_memory
    assert found.requested_bytes == 1 << 48
    assert device.kind == "cpu" or found.available_bytes is not None
    assert "empty" in repr(found)
