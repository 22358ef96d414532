"""A trace keeps no more ops than it may, and what it keeps is what it would be without a limit."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import paddle
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from paddle.autograd import PyLayer
from paddle.distributed.fleet.utils import recompute

import paddle_lab
from paddle_lab.capture.limit import limiter
from paddle_lab.capture.limit.trimming import op_keys
from paddle_lab.capture.sinks import SINKS
from paddle_lab.trace.limit import KEEPS, Keep, limit_of_text
from paddle_lab.trace.record import Record
from tests.capture.kept_rows import KeptRows

Train = Callable[[int], None]


class Cube(PyLayer):  # type: ignore[misc]
    """A PyLayer with ops of its own, forward and backward."""

    @staticmethod
    def forward(context: Any, x: Any) -> Any:
        context.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(context: Any, gradient: Any) -> Any:
        (x,) = context.saved_tensor()
        return gradient * 3 * x * x


def plain(steps: int) -> None:
    """Train a small network."""
    net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.Tanh(), paddle.nn.Linear(4, 1))
    optimizer = paddle.optimizer.Adam(parameters=net.parameters())
    kept = []
    for step in range(steps):
        x = paddle.to_tensor([[0.1 * step, 0.2, 0.3]])
        loss = (net(x) * (1.0 + step)).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        kept.append(loss if step % 3 else float(loss))


def nested(steps: int) -> None:
    """Run PyLayers, recomputation, regions, a graph that is used twice and a second derivative."""
    net = paddle.nn.LayerList([paddle.nn.Linear(3, 3) for _ in range(2)])
    net.eval()
    optimizer = paddle.optimizer.SGD(parameters=net.parameters())
    for step in range(steps):
        x = paddle.full([2, 3], 0.5)
        x.stop_gradient = False
        with paddle_lab.region("embed"):
            h = recompute(net[0], x)
        Cube.apply(net[1](h)).sum().backward()
        y = net[1](x).tanh()
        (slope,) = paddle.grad(y.sum(), [x], create_graph=True)
        total = y.sum() + slope.square().mean()
        total.backward(retain_graph=True)
        total.backward()
        with paddle.no_grad():
            x.detach().add_(paddle.ones([2, 3]))
        optimizer.step()
        optimizer.clear_grad()
        if step % 2:
            paddle_lab.step()


def carried(steps: int) -> None:
    """Compute without steps, and carry a graph along."""
    cell = paddle.nn.GRUCell(3, 3)
    state = paddle.zeros([1, 3])
    for step in range(steps):
        _, state = cell(paddle.full([1, 3], 0.1 * step), state)
    state.sum().backward()


TRAIN: dict[str, Train] = {"plain": plain, "nested": nested, "carried": carried}


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
    paddle_lab.load(paddle_lab.Trace(limited).save(tmp_path / "limited.pdtrace"))


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
            held.append(len(op_keys(recorder)))
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


def steps_of(trace: paddle_lab.Trace) -> list[int]:
    """Return the training steps of :func:`numbered` that a trace has."""
    return [int(float(op.attributes)) for op in trace.ops if op.name == "multiply"]


def numbered(steps: int, *, marks: bool = False) -> None:
    net = paddle.nn.Linear(2, 2)
    optimizer = paddle.optimizer.SGD(parameters=net.parameters())
    for step in range(steps):
        (net(paddle.ones([1, 2])) * (step + 2.0)).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
        if marks and step % 2:
            paddle_lab.step()


def test_steps_are_spread_over_the_whole_run() -> None:
    with paddle_lab.trace(limit=None) as whole:
        numbered(100)
    per_step = len(whole.ops) // 100
    with paddle_lab.trace(limit=per_step * 10, keep="steps") as trace:
        numbered(100)
    kept = steps_of(trace)
    assert kept[0] == 2  # the first
    assert kept[-1] == 101  # the newest
    distances = {later - step for step, later in pairwise(kept[:-1])}
    assert distances == {16}
    assert len(trace.ops) <= per_step * 10
    (notice, *_) = trace.record.origin.notices
    assert "8 of 100 training steps, every 16th and the newest (1, 17, 33, …, 97, 100)." in notice


def test_marks_of_the_users_own_end_steps() -> None:
    with paddle_lab.trace(limit=None) as whole:
        numbered(40)
    per_step = len(whole.ops) // 40
    with paddle_lab.trace(limit=per_step * 10, keep="steps") as trace:
        numbered(40, marks=True)
    assert "of 20 training steps" in trace.record.origin.notices[0]
    kept = steps_of(trace)
    assert kept[:2] == [2, 3]
    assert kept[-2:] == [40, 41]


def test_without_steps_the_newest_are_kept() -> None:
    x = paddle.rand([2, 2])
    with paddle_lab.trace(limit=5, keep="steps") as trace:
        for number in range(20):
            x = x + float(number)
    assert len(trace.ops) == 5
    assert (
        "no training step ended: an optimizer's step() ends one" in trace.record.origin.notices[0]
    )


@pytest.mark.parametrize("keep", KEEPS)
def test_a_limit_beyond_all_numbers_keeps_all(keep: Keep) -> None:
    x = paddle.rand([2, 2])
    with paddle_lab.memory(limit=10**30, keep=keep) as trace:
        x + x
    assert trace.record.origin.notices == []
    assert [op.name for op in trace.ops] == ["add"]
    assert limit_of_text("9" * 30, keep).ops == 1 << 48


@pytest.mark.parametrize("begin", [paddle_lab.trace, paddle_lab.memory])
@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"limit": 0}, ValueError, "limit= is 1 op or more, or None for all; not 0"),
        ({"limit": 1e6}, TypeError, "limit= is a whole number of ops, such as 100_000, or None"),
        ({"limit": True}, TypeError, "limit= is a whole number of ops"),
        ({"keep": "newst"}, ValueError, "keep= cannot be 'newst'; did you mean newest?"),
        ({"keep": "all"}, ValueError, "it is one of newest, first, steps"),
        ({"limits": 5}, TypeError, "did you mean 'limit'?"),
    ],
)
def test_wrong_options_are_told(
    begin: Any, options: dict[str, Any], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=re.escape(sentence)):
        begin(**options)
