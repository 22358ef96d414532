"""Fragmentation and the block map."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle_lab.analysis.memory.block_map import GAP_BYTES, address_ranges
from paddle_lab.api import Trace
from tests.trace.records import RecordWriter


def device_trace() -> Trace:
    w = RecordWriter()
    w.memory_total(0, 0, 0, "gpu:0")
    w.memory_total(10, 300, 1000, "gpu:0")
    w.memory_total(40, 900, 2000, "gpu:0")
    for size, start, end in ((300, 10, 60), (400, 20, 50), (900, 40, -1)):
        w.allocation(size, start_ns=start, end_ns=end, place="gpu:0", address=0x1000 + 100 * start)
    return Trace(w.record())


def test_fragmentation_is_what_is_reserved_and_not_allocated():
    found = device_trace().memory.fragmentation()
    assert found.is_known
    assert found.time_ns.tolist() == [0, 10, 20, 40, 50, 60]
    assert found.reserved_bytes.tolist() == [0, 1000, 1000, 2000, 2000, 2000]
    assert found.unused_bytes.tolist() == [0, 700, 300, 400, 800, 1100]
    assert (found.largest_bytes, found.largest_ns) == (1100, 60)
    assert (found.at(0), found.at(45), found.reserved_at(45), found.at(10**9)) == (
        0, 400, 2000, 1100,
    )  # fmt: skip
    assert "55% of what was reserved" in repr(found)


def test_a_cpu_reserves_nothing():
    w = RecordWriter()
    w.memory_total(0, 10, 4096)
    w.allocation(10, start_ns=4)
    found = Trace(w.record()).memory.fragmentation()
    assert (found.is_known, found.largest_bytes, found.at(5), found.reserved_at(5)) == (
        False, 0, 0, 0,
    )  # fmt: skip
    assert "reserves no memory" in repr(found)


def test_a_counter_of_reserved_memory_that_was_not_read_is_no_fragmentation():
    w = RecordWriter()
    w.memory_total(0, 0, 0, "gpu:0")
    w.allocation(10, start_ns=4, place="gpu:0")
    assert not Trace(w.record()).memory.fragmentation().is_known


def test_a_data_frame_of_it():
    pytest.importorskip("pandas")
    table = device_trace().memory.fragmentation().to_pandas()
    assert (table["reserved_bytes"] - table["allocated_bytes"] == table["unused_bytes"]).all()


def blocks_at(*blocks: tuple[int, int, int]) -> Trace:
    w = RecordWriter()
    for start_ns, (address, size, end_ns) in enumerate(blocks):
        w.allocation(size, start_ns=start_ns, end_ns=end_ns, address=address)
    return Trace(w.record())


FAR = 0x1000 + 4 * GAP_BYTES


def test_a_map_has_blocks_and_holes_by_address():
    trace = blocks_at(
        (0x3000, 256, -1), (0x1000, 512, -1), (0x2000, 64, 3), (FAR, 100, 3), (0x3100, 16, 50)
    )
    found = trace.memory.block_map(10)
    assert [block.address for block in found.allocations] == [0x1000, 0x3000, 0x3100]
    assert found.range_start.tolist() == [0x1000, FAR]
    assert found.range_end.tolist() == [0x3110, FAR + 100]
    assert found.range_of_block.tolist() == [0, 0, 0]
    assert list(zip(found.hole_start.tolist(), found.hole_end.tolist(), strict=True)) == [
        (0x1200, 0x3000),
        (FAR, FAR + 100),
    ]
    assert found.allocated_bytes == 784
    assert found.largest_hole_bytes == 0x1E00
    assert "3 blocks at 0.000 ms" in repr(found)


@given(
    st.lists(
        st.tuples(st.integers(0, 40).map(lambda slot: slot * 1_000_000), st.integers(0, 10**6),
                  st.sampled_from([-1, 50])),
        min_size=1, max_size=12, unique_by=lambda block: block[0],
    )
)  # fmt: skip
def test_blocks_and_holes_fill_the_ranges(blocks):
    found = blocks_at(*blocks).memory.block_map(60)
    extent = int((found.range_end - found.range_start).sum())
    alive = [(address, size) for address, size, end in blocks if end < 0]
    assert found.allocated_bytes + found.free_bytes == extent
    taken = sorted([*alive, *zip(found.hole_start, found.hole_end - found.hole_start, strict=True)])
    for (address, size), (following, _) in pairwise(taken):
        assert address + size <= following
    assert all(0 <= row < len(found.range_start) for row in found.range_of_block)


@given(st.lists(st.tuples(st.integers(0, 1 << 30), st.integers(0, 1 << 25)), max_size=20))
def test_every_block_lies_in_one_range_and_ranges_lie_apart(blocks):
    address = np.array([block[0] for block in blocks], np.int64)
    size = np.array([block[1] for block in blocks], np.int64)
    start, end = address_ranges(address, size)
    assert all(
        after - before > GAP_BYTES for before, after in zip(end[:-1], start[1:], strict=True)
    )
    for first, last in zip(address, address + np.maximum(size, 1), strict=True):
        assert sum(s <= first and last <= e for s, e in zip(start, end, strict=True)) == 1
