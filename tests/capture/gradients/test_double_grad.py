"""``paddle.grad(create_graph=True)`` runs in a trace as without one, and leaves nothing behind."""

from __future__ import annotations

import gc
from typing import Any

import paddle
import pytest

import paddle_lab
from paddle_lab.capture.recorder.recorder import Recorder


def allocated_bytes() -> int:
    gc.collect()
    return int(paddle.base.core.host_memory_stat_current_value("Allocated", 0))


def recorders() -> int:
    gc.collect()
    return sum(isinstance(found, Recorder) for found in gc.get_objects())


def double_grad(*, fails: bool) -> None:
    x = paddle.ones([256, 256])
    x.stop_gradient = False
    y = paddle.exp(paddle.tanh(x)).sum()
    unused = paddle.ones([1])
    unused.stop_gradient = False
    inputs = [x, unused] if fails else [x]
    (gradient, *_) = paddle.grad(y, inputs, create_graph=True)
    gradient.sum().backward()


@pytest.mark.parametrize("fails", [False, True])
def test_memory_and_recorders_are_freed(*, fails: bool) -> None:
    def traced() -> None:
        with paddle_lab.trace():
            double_grad(fails=fails)

    def run() -> None:
        if fails:
            with pytest.raises(ValueError, match=r"unreachable|unused|allow_unused|can not be"):
                traced()
        else:
            traced()

    run()
    before = allocated_bytes()
    for _ in range(5):
        run()
    assert allocated_bytes() - before < 256 * 256 * 4
    assert recorders() == 0


@pytest.mark.parametrize("is_trained", [True, False])
def test_a_loop_holds_no_more_than_without_a_trace(*, is_trained: bool) -> None:
    layers = paddle.nn.Linear(64, 64), paddle.nn.Linear(64, 1)

    def penalty() -> Any:
        mixed = paddle.ones([64, 64])
        mixed.stop_gradient = False
        out = layers[1](paddle.nn.functional.leaky_relu(layers[0](mixed))).sum()
        return (paddle.grad(out, mixed, create_graph=True)[0].norm() - 1) ** 2

    def steps() -> list[int]:
        found = []
        for _ in range(10):
            loss = penalty()
            if is_trained:
                loss.backward()
            found.append(allocated_bytes())
        return found

    steps()
    expected = steps()
    with paddle_lab.trace(check="none"):
        traced = steps()
    if is_trained:
        assert traced == expected
    else:  # a graph has 80 kB; all of them would have 800
        assert max(traced) - expected[0] < 400_000


@pytest.mark.parametrize("join", [paddle.concat, paddle.stack])
def test_ops_that_take_lists_of_tensors(join: Any) -> None:
    # A post hook on their grad nodes would make this fail, or kill the process.
    def gradient() -> list[float]:
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        (first,) = paddle.grad((join([x**2, x**3]) ** 2).sum(), [x], create_graph=True)
        (second,) = paddle.grad(first.sum(), [x])
        return list(second.numpy())

    plain = gradient()
    with paddle_lab.trace() as trace:
        assert gradient() == plain
    nodes = dict(trace.graph("backward").nodes(data=True))
    assert all(
        node["op"] is not None for node in nodes.values() if node["name"] != "GradNodeAccumulation"
    )


def test_a_double_grad_node_is_paired_with_the_op_of_its_grad_node() -> None:
    with paddle_lab.trace() as trace:
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        (gradient,) = paddle.grad(paddle.tanh(paddle.sin(x)).sum(), [x], create_graph=True)
        gradient.sum().backward()
    names = {op.key: op.name for op in trace.ops}
    pairs = {
        (node["name"], names[node["op"]])
        for _, node in trace.graph("backward").nodes(data=True)
        if node["name"].endswith("DoubleGradNode")
    }
    assert {("TanhDoubleGradNode", "tanh"), ("SinDoubleGradNode", "sin")} <= pairs
