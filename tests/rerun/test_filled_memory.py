"""Unwritten memory is found by filling it: two runs with different fillings then differ."""

from __future__ import annotations

import sys

import numpy as np
import paddle
import pytest

import paddle_lab
from paddle_lab.capture.rerun.fill import BYTES, filled, is_filled

ON_GLIBC = sys.platform.startswith("linux")


@pytest.mark.skipif(not ON_GLIBC, reason="memory cannot be filled")
def test_unwritten_memory_is_named_and_what_is_written_in_time_is_not():
    def step():
        whole = paddle.empty([64])
        whole[:] = 1.0
        part = paddle.empty([64])
        part[:60] = 1.0
        unread = paddle.empty([64])
        return whole.sum() + part.max(), unread

    trace = paddle_lab.rerun(step, check="unwritten-output")
    (finding,) = trace.findings
    assert "part = paddle.empty" in finding.code
    assert "part.max()" in finding.message


@pytest.mark.skipif(not ON_GLIBC, reason="memory cannot be filled")
@pytest.mark.parametrize("byte", BYTES)
@pytest.mark.parametrize("size", [1, 100, 5_000, 3_000_000])
def test_new_memory_begins_with_the_byte(byte, size):
    assert is_filled(paddle)
    with filled(paddle, byte):
        made = paddle.empty([size], dtype="uint8")
    assert set(np.unique(made.numpy()).tolist()) == {byte}
    assert paddle.get_flags("FLAGS_alloc_fill_value") == {"FLAGS_alloc_fill_value": -1}


def test_where_memory_cannot_be_filled_it_is_said(monkeypatch):
    monkeypatch.setattr("paddle_lab.capture.rerun.fill._perturb", lambda: None)
    x = paddle.ones([2])
    trace = paddle_lab.rerun(lambda: x * 2, check="unwritten-output")
    (notice,) = trace.record.origin.notices
    assert "memory cannot be filled here" in notice
