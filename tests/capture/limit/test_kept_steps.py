"""A trace that keeps whole training steps spreads them over the run."""

from __future__ import annotations

from itertools import pairwise

import paddle

import paddle_lab


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
    assert (
        "8 of 100 steps, one in 16 and the newest (1, 17, 33, …, 97, 100); each ends with" in notice
    )


def test_marks_of_the_users_own_end_steps() -> None:
    with paddle_lab.trace(limit=None) as whole:
        numbered(40)
    per_step = len(whole.ops) // 40
    with paddle_lab.trace(limit=per_step * 10, keep="steps") as trace:
        numbered(40, marks=True)
    assert "of 20 steps" in trace.record.origin.notices[0]
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
