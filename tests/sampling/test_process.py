"""The process's own memory, compared with psutil."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import psutil
import pytest

from paddle_lab.sampling import process
from paddle_lab.sampling.process import ProcessCounters

MIB = 1 << 20


@pytest.mark.parametrize("has_proc", [True, False])
def test_resident_memory_is_what_psutil_says_and_grows_with_what_is_touched(has_proc, monkeypatch):
    if not has_proc:
        monkeypatch.setattr(process, "_STATM", Path("/nowhere/statm"))
    counters = ProcessCounters()

    (before,) = counters.read(0)
    touched = np.ones(64 * MIB, dtype=np.uint8)
    (after,) = counters.read(0)

    assert abs(after - psutil.Process().memory_info().rss) < 8 * MIB
    assert abs(after - before - touched.nbytes) < 8 * MIB
    (counter,) = counters.counters()
    assert counter.limit == psutil.virtual_memory().total
