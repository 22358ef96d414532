"""A traced ``paddle.grad(create_graph=True)`` leaves nothing behind once its trace is gone."""

from __future__ import annotations

import gc

import paddle
import pytest

import paddle_lab
from paddle_lab.capture.recorder import Recorder


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
