"""The running total and its peak."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle_lab.api import Trace
from tests.analysis.memory.traces import alive_bytes, trace_of
from tests.trace.records import RecordWriter


@st.composite
def lifetimes(draw):
    blocks = []
    times = iter(draw(st.permutations(range(40))))
    for _ in range(draw(st.integers(0, 12))):
        size = draw(st.integers(0, 1 << 40))
        start, end = sorted((next(times), next(times)))
        before, stays = draw(st.booleans()), draw(st.booleans())
        blocks.append((size, -1 if before else start, -1 if stays else end))
    return blocks


@given(lifetimes(), st.integers(0, 1 << 41))
def test_the_total_is_the_sum_of_what_is_alive_at_every_moment(blocks, unseen):
    seen = sum(size for size, start, _ in blocks if start < 0)
    memory = trace_of(blocks, counted=seen + unseen).memory
    totals = [alive_bytes(blocks, moment) + unseen for moment in range(41)]
    assert [memory.timeline.at(moment) for moment in range(41)] == totals
    assert memory.start_bytes == seen + unseen
    assert memory.unseen_bytes == unseen
    assert memory.peak_bytes == max(seen + unseen, *totals)
    assert memory.peak_ns in (0, totals.index(max(totals)))
    assert memory.end_bytes == totals[-1]
    for moment in (0, memory.peak_ns, 40):
        assert memory.alive_at(moment).total_bytes + unseen == totals[moment]
        for answer in (memory.by_op, memory.by_layer, memory.by_line, memory.by_kind):
            assert answer(moment).total_bytes == totals[moment]


def test_without_a_counter_the_known_blocks_are_what_was_there():
    memory = trace_of([(100, -1, 5), (10, 3, -1)]).memory
    assert (memory.start_bytes, memory.unseen_bytes, memory.peak_bytes) == (100, 0, 110)


def test_at_one_moment_memory_is_freed_before_it_is_allocated():
    memory = trace_of([(100, 1, 5), (100, 5, 9)]).memory
    assert memory.peak_bytes == 100
    assert memory.timeline.time_ns.tolist() == [1, 5, 5, 9]
    assert memory.timeline.allocated_bytes.tolist() == [100, 0, 100, 0]


def test_a_block_that_lives_for_no_time_still_counts():
    memory = trace_of([(100, 1, -1), (7, 5, 5)]).memory
    assert (memory.peak_bytes, memory.peak_ns, memory.end_bytes) == (107, 5, 100)


def test_a_cell_that_only_frees_peaks_where_it_begins():
    memory = trace_of([(100, -1, 5)]).memory
    assert (memory.peak_bytes, memory.peak_ns, memory.end_bytes) == (100, 0, 0)


def test_times_and_sums_do_not_overflow():
    blocks = [(1 << 50, 1 << 60, -1)] * 4
    assert trace_of(blocks).memory.peak_bytes == 1 << 52


def test_places_are_counted_apart_and_a_device_comes_first():
    w = RecordWriter()
    w.allocation(500, place="cpu", start_ns=1)
    w.allocation(10, place="gpu:0", start_ns=2)
    w.allocation(30, place="gpu:1", start_ns=3)
    w.allocation(900, place="gpu_pinned", start_ns=4)
    memory = Trace(w.record()).memory
    assert memory.place == "gpu:1"
    assert list(memory.places) == ["cpu", "gpu:0", "gpu:1", "gpu_pinned"]
    assert [memory.on(place).peak_bytes for place in memory.places] == [500, 10, 30, 900]
    with pytest.raises(ValueError, match="no memory of 'npu:0'; it has: cpu, gpu:0"):
        memory.on("npu:0")


def test_a_trace_without_memory_says_how_to_record_it():
    w = RecordWriter()
    w.op("relu")
    trace = Trace(w.record())
    assert len(trace.allocations) == 0
    assert repr(trace.allocations) == "no allocations"
    with pytest.raises(ValueError, match=r"recorded no memory; record with paddle_lab\.memory\(\)"):
        _ = trace.memory
    assert "Memory" not in trace.summary()


def test_a_cell_in_which_nothing_was_allocated_has_its_counter():
    w = RecordWriter()
    w.memory_total(0, 1234, 2048)
    memory = Trace(w.record()).memory
    assert (memory.peak_bytes, memory.end_bytes, len(memory.allocations)) == (1234, 1234, 0)
    assert memory.by_kind()[0].bytes == 1234
    assert "no memory grew" not in repr(memory)
    assert len(memory.block_map().range_start) == 0
    assert np.array_equal(memory.timeline.time_ns, [])
