"""What an optimizer overwrites in the cell: all steps can run again, and the limit comes first."""

from __future__ import annotations

import numpy as np
import paddle
import pytest

import paddle_lab

_STEPS = 3


class Run:
    """Steps of AdamW, whose state is older than the first of them."""

    def __init__(self, width: int = 8) -> None:
        paddle.seed(0)
        self.net = paddle.nn.Linear(width, width)
        self.optimizer = paddle.optimizer.AdamW(parameters=self.net.parameters())
        self.x = paddle.rand([4, width])
        self.seen = []
        self.steps(1)

    def steps(self, count: int) -> None:
        self.seen = []
        for _ in range(count):
            loss = self.net(self.x).square().mean()
            loss.backward()
            weight = self.net.weight
            self.seen.append((loss.numpy().copy(), weight.grad.numpy().copy()))
            self.optimizer.step()
            self.optimizer.clear_grad()
            self.seen[-1] += (weight.numpy().copy(),)


def rows(trace, name: str) -> list[int]:
    return [row for row, op in enumerate(trace.ops) if op.name == name]


def test_each_step_runs_again_after_the_optimizer_wrote():
    run = Run()
    with paddle_lab.trace(replay=True) as trace:
        run.steps(_STEPS)
    held_bytes = trace._replay.log.held.size_bytes
    steps = zip(run.seen, rows(trace, "mean"), rows(trace, "adamw_")[::2], strict=True)
    for call, (kept, mean, adamw) in enumerate(steps):
        assert trace.value(mean).tobytes() == kept[0].tobytes()
        assert trace.value(adamw).tobytes() == kept[2].tobytes()
        nodes = trace.view_record.grad_nodes
        weight = next(
            node for node in np.flatnonzero(nodes["parameter"] >= 0).tolist()
            if trace.gradient(node, call=call).shape == (8, 8)
        )  # fmt: skip
        assert trace.gradient(weight, call=call).tobytes() == kept[1].tobytes()
    # Three steps hold what one step holds: the optimizer's ops run again.
    with paddle_lab.trace(replay=True) as trace:
        run.steps(1)
    assert trace._replay.log.held.size_bytes == held_bytes


def test_the_limit_leaves_room_for_parameters_first():
    run = Run(600)  # 1.4 MB of parameters, 2.9 MB of state
    with paddle_lab.trace(replay=True, replay_limit=2) as trace:
        run.steps(_STEPS)
    first, second, _ = rows(trace, "mean")
    assert trace.value(first).tobytes() == run.seen[0][0].tobytes()
    with pytest.raises(paddle_lab.ReplayError, match="--replay-limit"):
        trace.value(second)


def test_a_trace_says_what_its_copies_cost():
    run = Run(600)
    with paddle_lab.trace(replay=True) as trace:
        run.steps(1)
    (told,) = [text for text in trace.view_record.origin.notices if "MB" in text]
    assert " 4 MB of inputs, parameters and optimizer state" in told
    with paddle_lab.trace(replay=True) as trace:
        paddle.ones([2]) + 1
    assert not trace.view_record.origin.notices
