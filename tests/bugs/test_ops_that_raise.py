"""No check fails because of an op that raised, which has no output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import paddle
import pytest
from paddle.nn import functional as F

import paddle_lab


@pytest.mark.parametrize(
    "fails",
    [
        lambda x: x + paddle.ones([4]),
        lambda x: x * paddle.ones([4]),
        lambda x: paddle.squeeze(x, 7),
        lambda x: F.softmax(x, axis=7),
        lambda x: paddle.lerp(x, paddle.ones([4]), paddle.ones([5])),
        lambda x: F.cross_entropy(x, paddle.ones([3, 4])),
    ],
)
def test_no_check_fails_at_it(fails: Callable[[Any], Any]) -> None:
    net = paddle.nn.Linear(3, 3)
    x = net(paddle.ones([2, 3]))
    with pytest.raises((ValueError, IndexError)), paddle_lab.trace(check="all") as trace:
        fails(x + 0)
    told = trace.summary()
    assert "Raised" in told
    assert "a fault of its own" not in told
