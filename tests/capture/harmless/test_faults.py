"""An error inside the trace ends the trace with a notice; the user's code runs on."""

from __future__ import annotations

import asyncio
from typing import Any

import paddle
import pytest

import paddle_lab
from paddle_lab.capture.backward_graph.graphs import BackwardGraphs
from paddle_lab.capture.hooks.hooks import HOOKS
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.recorder.layers import LayerPool
from paddle_lab.capture.recorder.recorder import Recorder


def fault(*_args: Any, **_kwargs: Any) -> Any:
    raise RuntimeError("a fault of ours")


def step(net: paddle.nn.Layer) -> list[float]:
    loss = net(paddle.ones([2, 3])).square().mean()
    loss.backward()
    gradient = net.weight.grad.numpy().tolist()
    net.clear_gradients()
    return gradient


@pytest.mark.parametrize(
    ("owner", "method"),
    [
        (Recorder, "thread"),
        (LayerPool, "key_of"),
        (Recorder, "resolve"),
        (BackwardGraphs, "walk"),
        (Recorder, "begin_op"),
    ],
)
def test_the_users_code_goes_on(monkeypatch: pytest.MonkeyPatch, owner: type, method: str) -> None:
    net = paddle.nn.Linear(3, 2)
    plain = step(net)
    with paddle_lab.trace() as trace, monkeypatch.context() as patch:
        patch.setattr(owner, method, fault)
        x = paddle.ones([2])
        x.stop_gradient = False
        paddle.grad(paddle.concat([x, x]).sum(), [x], create_graph=True)
        traced = step(net)
    assert traced == plain
    (notice,) = trace.record.origin.notices
    assert "a fault of ours" in notice


def test_a_class_of_the_users_that_cannot_be_read_leaves_one_notice() -> None:
    class Odd(paddle.nn.Layer):
        def parameters(self, *_args: Any, **_kwargs: Any) -> Any:
            raise KeyError("no parameters")

    with paddle_lab.trace() as trace:
        Odd().eval()
        Odd().train()
    (notice,) = trace.record.origin.notices
    assert "no parameters" in notice
    assert "eval" in notice


def test_no_two_patches_replace_one_attribute() -> None:
    """The second of two such patches would do nothing, because the first has set another value."""
    with paddle_lab.trace():
        patches = [*HOOKS._patches, *HOOKS._lasting]
        places = [patch.place for patch in patches if isinstance(patch, AttributePatch)]
    assert len(places) > 50
    assert len(set(places)) == len(places)


def test_an_error_whose_text_fails_does_not_lose_the_trace() -> None:
    class Unspeakable(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    recording = paddle_lab.trace()
    trace = recording.__enter__()
    paddle.ones([1])
    recording.__exit__(Unspeakable, Unspeakable(), None)
    assert len(trace.ops) == 1
    assert trace.record.origin.exception.startswith("Unspeakable")


def test_regions_of_tasks_that_take_turns_do_not_outlive_them() -> None:
    async def task(name: str, pause_s: float) -> None:
        with paddle_lab.region(name):
            await asyncio.sleep(pause_s)

    async def both() -> None:
        await asyncio.gather(task("first", 0.01), task("second", 0.03))

    with paddle_lab.trace() as trace:
        with paddle_lab.region("around"):
            asyncio.run(both())
        paddle.ones([1])
    assert not trace.ops[-1].region


def test_minimize_and_the_closure_of_lbfgs_have_their_own_phases() -> None:
    net = paddle.nn.Linear(3, 1)
    momentum = paddle.optimizer.Momentum(0.1, parameters=net.parameters())
    lbfgs = paddle.optimizer.LBFGS(parameters=net.parameters(), max_iter=2)

    def closure() -> paddle.Tensor:
        lbfgs.clear_grad()
        loss = net(paddle.ones([2, 3])).square().mean()
        loss.backward()
        return loss

    with paddle_lab.trace() as trace:
        loss = closure()
        momentum.minimize(loss)
        lbfgs.step(closure)
    phases = {(op.name, op.phase) for op in trace.ops}
    assert ("momentum_", "optimizer") in phases
    assert ("momentum_", "forward") not in phases
    assert {phase for name, phase in phases if name == "linear"} == {"forward"}
