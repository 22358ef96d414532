"""Models that ``paddle.jit.save`` refuses. A comment marks each blocking line with its kind."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import paddle
from paddle import nn


class Inner(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        if 0 < x.mean() < 1:  # BLOCKER: python-branch
            x = x * 2
        return self.linear(x)


class Fifteen(nn.Layer):
    """All in one: each blocker hides the next ones from ``paddle.jit.save``."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()
        self.experts = nn.LayerList([nn.Linear(4, 4) for _ in range(3)])
        self.register_buffer("mean", paddle.zeros([4]))

    def expert(self, x: Any) -> Any:
        chosen = int(x.argmax()) % 3
        return self.experts[chosen](x)  # BLOCKER: number-needed

    def forward(self, x: Any) -> Any:
        scale = sum(x[0].tolist())  # BLOCKER: eager-only
        h = self.inner(x) * scale
        print(f"{h.mean():.2f}")  # noqa: T201 BLOCKER: format
        self.mean.set_value(self.mean + h.mean(0))  # BLOCKER: eager-only
        y = h
        if h.mean() > 1e9:  # BLOCKER: branch-types
            y = h.sum()
        for _ in range(10):
            if y.sum() > 10:  # BLOCKER: loop-exit
                break
            y = y + 1
        z = self.expert(y) + paddle.to_tensor(np.array(x))  # BLOCKER: numpy
        w = paddle.stack([row * 2 for row in z])  # BLOCKER: endless-loop
        turned = w.transpose([1, 0])
        turned.add_(paddle.ones([1]))  # BLOCKER: view-in-place
        q = max([w.mean(), w.sum()]) * w  # BLOCKER: python-branch
        q.unbind(0)  # BLOCKER: crash
        math.floor(q.mean())  # BLOCKER: number-needed
        q.register_hook(lambda gradient: gradient * 2)  # BLOCKER: eager-only
        made = nn.Linear(4, 4)(q)  # BLOCKER: new-parameter
        return w, q, turned, made


class Raising(nn.Layer):
    def forward(self, x: Any) -> Any:
        if x.mean() < -100:
            raise ValueError("too small")  # BLOCKER: raised
        return x * 2


class Unused(nn.Layer):
    def forward(self, x: Any) -> Any:  # noqa: ARG002 BLOCKER: unused-input
        return paddle.ones([2])


class Stopping(nn.Layer):
    def forward(self, x: Any) -> Any:
        for turn in range(10):
            if x.sum() > 10:  # BLOCKER: loop-exit
                return x
            x = x + turn
        return x


@paddle.jit.not_to_static
def flipped(x: Any) -> Any:
    if x.mean() > 0:  # BLOCKER: python-branch
        return x
    return -x


class Untranslated(nn.Layer):
    def forward(self, x: Any) -> Any:
        return flipped(x)


class Growing(nn.Layer):
    def forward(self, x: Any) -> Any:
        return x + paddle.to_tensor(np.zeros([x.shape[0], 4], "float32"))  # BLOCKER: number-needed


class Counting(nn.Layer):
    def forward(self, x: Any) -> Any:
        return x + paddle.to_tensor(np.arange(x.shape[0]))  # BLOCKER: number-needed


class ByNumpy(nn.Layer):
    def forward(self, x: Any) -> Any:
        return paddle.to_tensor(np.argsort(x.numpy(), axis=0))  # BLOCKER: numpy


class NumpyList(nn.Layer):
    def forward(self, x: Any) -> Any:
        grid = np.meshgrid(x[0].numpy(), x[1].numpy())  # BLOCKER: numpy
        return x + paddle.to_tensor(grid[0])[0]


class Three(nn.Layer):
    def forward(self, x: Any) -> Any:
        more = None
        if x.sum() > 1e6:  # BLOCKER: branch-types
            more = x * 2
        order = np.argsort(x, axis=0)  # noqa: F841  (alone, Paddle exports the model)
        rows = list(reversed(x))  # BLOCKER: eager-only
        padded = nn.functional.pad(x, [0, int(x.shape[0] * 2), 0, 0])  # BLOCKER: number-needed
        padded = padded + paddle.to_tensor(np.argsort(x, axis=0))[0, 0]  # BLOCKER: numpy
        return rows[0] + padded if more is None else x + more
