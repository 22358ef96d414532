"""A loop that waits for its ``DataLoader`` is reported, with times, the slow line and advice."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import pytest

import paddle_lab


class Items(paddle.io.Dataset):
    def __init__(self, seconds: float, count: int) -> None:
        self.seconds = seconds
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, item: int) -> np.ndarray:
        row = np.full(2, item, "float32")
        time.sleep(self.seconds)
        return row


SLEEP = Items.__getitem__.__code__.co_firstlineno + 2


def epochs(
    seconds: float, count: int = 1, items: int = 16, computing_s: float = 0.0, **settings: Any
) -> list[float]:
    loader = paddle.io.DataLoader(Items(seconds, items), batch_size=4, **settings)
    sums = []
    for _ in range(count):
        for batch in loader:  # LOOP
            rows = batch if isinstance(batch, paddle.Tensor) else batch[0]
            sums.append(float(rows.sum()))
            time.sleep(computing_s)
    return sums


LOOP = 1 + next(
    n for n, line in enumerate(Path(__file__).read_text().splitlines()) if "# LOOP" in line
)


@pytest.mark.parametrize(
    ("settings", "advice"),
    [
        ({}, "num_workers=2"),
        ({"num_workers": 1, "use_shared_memory": False}, "use_shared_memory=True"),
        ({"num_workers": 1}, "more workers"),
    ],
)
def test_waits_are_told_with_the_slow_line(settings: dict[str, Any], advice: str) -> None:
    # In one epoch, workers start once. On a busy machine, a second start may take the most time.
    begun_s = time.perf_counter()
    with paddle_lab.trace() as trace:
        sums = epochs(0.03, items=32, **settings)
    elapsed_s = time.perf_counter() - begun_s
    assert sorted(sums) == [2.0 * sum(range(first, first + 4)) for first in range(0, 32, 4)]
    (finding,) = [one for one in trace.findings if one.kind == "loader-waits"]
    assert (finding.file, finding.line) == (__file__, LOOP)
    assert f"test_loader_waits.py:{SLEEP}." in finding.message
    assert f"num_workers={settings.get('num_workers', 0)}" in finding.message
    assert "9 waits" in finding.message
    assert advice in finding.advice
    waited_s = float(finding.message.partition(" waited ")[2].partition(" ")[0])
    assert 0.7 <= waited_s <= elapsed_s


def test_workers_that_are_started_for_each_epoch_may_be_kept() -> None:
    with paddle_lab.trace() as trace:
        epochs(0.0, count=14, num_workers=3)
    found = [one for one in trace.findings if one.kind == "loader-waits"]
    assert all("persistent_workers=True" in one.advice for one in found)
    assert found


def test_a_loop_that_computes_is_no_finding() -> None:
    with paddle_lab.trace() as trace:
        epochs(0.01, count=2, computing_s=0.1)
    assert not [one for one in trace.findings if one.kind == "loader-waits"]
