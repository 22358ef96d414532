"""Allocations add up to Paddle's own counter, and each names the op that made it."""

from __future__ import annotations

import gc

import numpy as np
import paddle
import pytest

import paddle_lab
from paddle_lab.analysis.source.stacks import USER, stack_frames
from paddle_lab.capture.limit import limiter
from paddle_lab.capture.memory import capture as memory_capture
from paddle_lab.capture.memory.log.events import AllocatorEvents
from paddle_lab.trace.schema import PHASES
from tests.capture.memory.running_total import RunningTotal
from tests.models import MODELS, STATIC_MODELS
from tests.oracles.allocator_counter import peak_bytes, readings_around_layers, reset_peak


@pytest.fixture
def seen_events(monkeypatch):
    """The allocator's raw events, each with Paddle's counter after it."""
    seen = []
    monkeypatch.setattr(limiter, "_FIRST_SETTLE_OPS", 100_000)
    read = memory_capture.read_segments

    def read_and_keep(segments, **_options):
        events, runs = read(segments)
        seen.append(events)
        return events, runs

    monkeypatch.setattr(memory_capture, "read_segments", read_and_keep)
    return seen


@pytest.mark.parametrize("name", MODELS)
def test_allocations_are_true_and_named(name, seen_events):
    step = MODELS[name]()
    step()  # what is made once: optimizer states, caches
    gc.collect()  # what earlier tests left would be freed after the reset
    reset_peak()
    with paddle_lab.memory() as trace, readings_around_layers() as layers:
        step()
        layers.read()
    paddles_peak = peak_bytes()
    record = trace.record
    assert record.origin.notices == []

    total = RunningTotal(record)
    events = AllocatorEvents.joined(seen_events)
    assert total.totals.tolist() == events.allocated_bytes.tolist()
    trace_start_ns = int(events.time_ns[0]) - int(total.times_ns[0])
    assert [total.at(time_ns - trace_start_ns) for time_ns, _ in layers.readings] == [
        counted for _, counted in layers.readings
    ]
    assert total.end_bytes == total.counted_end_bytes
    assert total.peak_bytes == paddles_peak

    blocks = record.allocations
    during = blocks["start_ns"] >= 0
    size = np.where(during, blocks["bytes"], 0)
    all_bytes = size.sum()
    assert size[blocks["op"] >= 0].sum() >= 0.99 * all_bytes
    is_users = np.append(record.frames["kind"][stack_frames(record)] == USER, False)
    assert size[is_users[blocks["stack"]]].sum() >= 0.99 * all_bytes
    in_backward = during & (blocks["phase"] == PHASES.index("backward"))
    assert in_backward.any()
    assert (blocks["grad_node"][in_backward] >= 0).all()


def test_a_copy_names_the_op_that_made_what_it_copies():
    data = paddle.rand([7, 11])
    with paddle_lab.memory() as trace:
        made = data + 1
        copies = [made._copy_to(paddle.CPUPlace(), True)]
        copies.append(made.numpy())
        copies.append(data._copy_to(paddle.CPUPlace(), True))
    record = trace.record
    assert len(record.ops) == 1
    blocks = record.allocations
    new = np.flatnonzero(blocks["start_ns"] >= 0)
    assert blocks["bytes"][new].tolist() == [7 * 11 * 4] * 4
    assert blocks["op"][new].tolist() == [0, 0, 0, -1]
    assert len(set(blocks["stack"][new].tolist())) == 4
    assert len(copies) == 3


@pytest.mark.parametrize("name", STATIC_MODELS)
def test_what_a_static_program_allocates_is_its_ops(name):
    step = STATIC_MODELS[name]()
    step()
    with paddle_lab.memory() as trace:
        step()
    record = trace.record
    blocks = record.allocations
    during = blocks["start_ns"] >= 0
    assert (blocks["op"][during] >= 0).all()
    total = RunningTotal(record)
    # The executor frees memory in its own threads, and no such event is missed.
    assert record.origin.notices == []
    assert total.end_bytes == total.counted_end_bytes
