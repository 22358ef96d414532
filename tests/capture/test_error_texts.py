"""Paddle's message for an error of Python code in backward is the same in a trace."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import nullcontext

import paddle
import pytest

import paddle_lab


class Raising(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, value):  # noqa: ARG004
        return value * 2

    @staticmethod
    def backward(ctx, gradient):  # noqa: ARG004
        raise ValueError("no gradient today")


def hook(gradient):
    raise ValueError("no gradient today")


def backward(loss, leaf):
    loss.backward()


def grad(loss, leaf):
    paddle.grad(loss, [leaf])


def through_pylayer(leaf):
    return Raising.apply(leaf).sum()


def through_hook(leaf):
    value = leaf * 2
    value.register_hook(hook)
    return value.sum()


@pytest.mark.parametrize("run", [backward, grad])
@pytest.mark.parametrize("forward", [through_pylayer, through_hook])
def test_an_error_says_the_same(forward: Callable, run: Callable) -> None:
    told = []
    for context in (nullcontext(), paddle_lab.trace(), paddle_lab.trace(grads=True, check="all")):
        leaf = paddle.ones([2])
        leaf.stop_gradient = False
        with pytest.raises(Exception, match="no gradient today") as raised, context:
            run(forward(leaf), leaf)
        told.append((type(raised.value), re.sub("0x[0-9a-f]+", "", str(raised.value))))
    assert told[1] == told[0]
    assert told[2] == told[0]
