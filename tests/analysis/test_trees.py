"""Walks over parents stored as columns, compared with a simple loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle_lab.trace.trees import common_ancestors, csr, depths, grouped, nearest_marked


@st.composite
def trees(draw):
    count = draw(st.integers(0, 25))
    parents = [draw(st.integers(-1, row - 1)) for row in range(count)]
    order = draw(st.permutations(range(count)))
    shuffled = [-1] * count
    for row, parent in enumerate(parents):
        shuffled[order[row]] = order[parent] if parent >= 0 else -1
    return np.asarray(shuffled, np.int32)


def path(parents, row):
    rows = []
    while row >= 0:
        rows.append(row)
        row = int(parents[row])
    return rows


@given(trees())
def test_depth_counts_ancestors(parents):
    assert depths(parents).tolist() == [len(path(parents, row)) - 1 for row in range(len(parents))]


@given(trees(), st.data())
def test_nearest_marked_is_the_first_on_the_way_up(parents, data):
    marked = np.asarray([data.draw(st.booleans()) for _ in parents], bool)
    expected = [
        next((above for above in path(parents, row) if marked[above]), -1)
        for row in range(len(parents))
    ]
    assert nearest_marked(parents, marked).tolist() == expected


@given(trees(), st.data())
def test_common_ancestor_is_the_lowest_shared(parents, data):
    rows = st.integers(-1, len(parents) - 1)
    left, right = (np.asarray(data.draw(st.lists(rows, min_size=4, max_size=4))) for _ in "ab")
    found = common_ancestors(parents, depths(parents), left, right)
    expected = [
        next((above for above in path(parents, a) if above in path(parents, b)), -1)
        for a, b in zip(left.tolist(), right.tolist(), strict=True)
    ]
    assert found.tolist() == expected


def test_a_long_chain_needs_no_recursion():
    parents = np.arange(-1, 50_000, dtype=np.int32)
    assert depths(parents)[-1] == 50_000
    marked = parents < 0
    assert nearest_marked(parents, marked)[-1] == 0


def test_a_circle_is_refused():
    with pytest.raises(ValueError, match="cycle"):
        depths(np.asarray([1, 2, 0]))


@given(st.lists(st.integers(-1, 5)))
def test_csr_lists_rows_by_source(sources):
    starts, order = csr(np.asarray(sources, np.int32), 6)
    for source in range(6):
        rows = order[starts[source] : starts[source + 1]].tolist()
        assert rows == [row for row, value in enumerate(sources) if value == source]
    found = {one: rows.tolist() for one, rows in grouped(np.asarray(sources, np.int32)).items()}
    expected = {one: [] for one in {*sources} - {-1}}
    for row, source in enumerate(sources):
        expected.get(source, []).append(row)
    assert found == expected
