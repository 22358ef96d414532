"""Which backward calls' graphs wait at a moment: found by search, as by looking at each."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paddle_lab.analysis.findings.saved.silent_changes import _Run, _Runs

NOTHING = np.empty(0, np.int64)
SPANS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)).map(sorted), max_size=12)


@given(SPANS, st.integers(-1, 22))
def test_a_call_waits_from_its_first_op_until_it_runs(spans, position):
    runs = [_Run(before, -1, NOTHING, NOTHING, first) for first, before in spans]
    expected = [run for run in runs if run.first_op < position <= run.before]
    found = _Runs(runs).around(position)
    assert sorted(map(id, found)) == sorted(map(id, expected))
