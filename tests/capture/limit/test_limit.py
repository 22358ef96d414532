"""A trace keeps at most its limit of ops, and these are as in a trace without a limit."""

from __future__ import annotations

import gc
from pathlib import Path

import paddle
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import paddle_lab
from paddle_lab.capture.limit import limiter
from paddle_lab.capture.recorder.recorder import SINKS
from paddle_lab.capture.tables.op_columns import OpRows
from paddle_lab.trace.limit import KEEPS, Keep
from paddle_lab.trace.record import Record
from tests.capture.limit.kept_rows import KeptRows
from tests.capture.limit.trained import TRAIN, Train, plain


def both(train: Train, steps: int, limit: int, keep: Keep) -> tuple[Record, Record]:
    paddle.seed(3)
    with (
        paddle_lab.trace(limit=None) as whole,
        paddle_lab.trace(limit=limit, keep=keep) as limited,
    ):
        train(steps)
    return whole.record, limited.record


@settings(
    max_examples=25,
    deadline=None,
    phases=[Phase.generate],  # a run is too long to be shrunk
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    train=st.sampled_from(sorted(TRAIN)),
    keep=st.sampled_from(KEEPS),
    steps=st.integers(1, 6),
    limit=st.integers(1, 150),
    surplus=st.integers(1, 40),
)
def test_what_is_kept_is_as_it_was(
    train: str,
    keep: Keep,
    steps: int,
    limit: int,
    surplus: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limiter, "_LEAST_SURPLUS", surplus)
    whole, limited = both(TRAIN[train], steps, limit, keep)
    assert not any("fault" in notice for notice in limited.origin.notices)
    if len(whole.ops) <= limit:
        assert limited.origin.kept == ""
        assert not limited.origin.notices
    else:
        assert limited.origin.kept == keep
        assert f"{len(limited.ops):,}" in limited.origin.notices[0]
        assert len(limited.ops) == limit if keep != "steps" else len(limited.ops) <= limit
    KeptRows(whole, limited, aligned_at=0 if keep == "first" else -1).check()
    # Reading a file checks that every reference points somewhere.
    paddle_lab.load(paddle_lab.Trace(limited).save(tmp_path / "limited.pltrace"))


def test_alone_it_keeps_the_newest() -> None:
    with paddle_lab.trace(limit=None) as whole:
        plain(4)
    with paddle_lab.trace(limit=30) as trace:
        plain(4)
    names = [(op.name, op.line, op.phase) for op in whole.ops]
    assert [(op.name, op.line, op.phase) for op in trace.ops] == names[-30:]
    assert [op.key for op in trace.ops] == list(range(30))
    (notice, *_) = trace.record.origin.notices
    assert notice.startswith(f"{len(names)} ops ran, and the trace keeps the newest 30. ")
    assert "limit=100 (--limit 100) keeps all." in notice


def test_it_trims_while_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limiter, "_LEAST_SURPLUS", 1)
    held = []
    with paddle_lab.trace(limit=20) as trace:
        for step in range(12):
            plain(1)
            (recorder,) = SINKS.active
            held.append(len(OpRows(recorder.ops).keys))
            assert step or held == [min(held)]
    assert max(held) < 40
    assert len(trace.ops) == 20


@pytest.mark.parametrize("keep", ["newest", "steps"])
def test_allocations_of_ops_that_are_gone_stay_true(keep: Keep) -> None:
    def trained(limit: int | None) -> paddle_lab.Trace:
        gc.collect()  # what other tests left must not go while this one counts
        paddle.seed(5)
        with paddle_lab.memory(limit=limit, keep=keep) as trace:
            plain(12)
        return trace

    def rows(trace: paddle_lab.Trace) -> list[int]:
        return sorted(trace.record.allocations["bytes"].tolist())

    trained(None)  # what Paddle allocates once is allocated
    whole, limited = trained(None), trained(100)
    assert len(limited.ops) <= 100 < len(whole.ops)
    assert rows(limited) == rows(whole)
    start = whole.memory.start_bytes - limited.memory.start_bytes
    assert limited.memory.peak_bytes == whole.memory.peak_bytes - start
    assert limited.memory.end_bytes == whole.memory.end_bytes - start
    assert len(whole.record.steps) == 12
    assert len(limited.record.steps) == 12
    has_op = limited.record.allocations["op"] >= 0
    assert 0 < has_op.sum() < (whole.record.allocations["op"] >= 0).sum()
    assert " Allocations of other ops have no op." in limited.record.origin.notices[0]
    assert not any("allocations were made" in notice for notice in limited.record.origin.notices)


def test_a_trace_of_the_first_ops_takes_its_hooks_away() -> None:
    x = paddle.rand([2, 2])
    native = paddle.Tensor.__add__
    with paddle_lab.trace(limit=2, keep="first") as trace:
        assert paddle.Tensor.__add__ is not native
        x + x
        x - x
        assert paddle.Tensor.__add__ is not native
        y = x * x
        assert paddle.Tensor.__add__ is native
        x / y
    assert [op.name for op in trace.ops] == ["add", "subtract"]
    assert trace.record.origin.kept == "first"
    (notice, *_) = trace.record.origin.notices
    assert notice.startswith("The trace keeps the first 2 ops: recording stopped 0.")


def test_as_many_ops_as_the_limit_are_all_kept() -> None:
    x = paddle.rand([2, 2])
    for keep in KEEPS:
        with paddle_lab.trace(limit=2, keep=keep) as trace:
            x + x
            x - x
        assert trace.record.origin.notices == []
        assert trace.record.origin.kept == ""
        assert len(trace.ops) == 2


def test_gradients_are_looked_at_though_grad_nodes_before_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limiter, "_LEAST_SURPLUS", 1)
    with paddle_lab.trace(limit=20, grads=True) as trace:
        plain(12)
    assert not any("fault" in notice for notice in trace.record.origin.notices)
    assert len(trace.record.grad_stats)
