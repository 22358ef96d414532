"""Models whose compiled results differ from eager ones. A comment marks the op with its name.

They end with an op that keeps every difference; a ReLU may drop all of them.
"""

from __future__ import annotations

import random
import time
from typing import Any

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

# Half of what the linear layer gives is negative, so that a ReLU changes something.
SIGNS = np.diag(np.array([1.0, -1.0, 1.0, -1.0], "float32"))


class Linear(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4, weight_attr=nn.initializer.Assign(SIGNS))
        self.calls = 0
        self.scales = [1.0]
        self.flag = True


class RandomScale(Linear):
    def forward(self, x: Any) -> Any:
        h = self.linear(x)
        h = h * random.random()  # OP: multiply
        return F.tanh(h)


class NumpyNoise(Linear):
    def forward(self, x: Any) -> Any:
        h = self.linear(x)
        h = h + paddle.to_tensor(np.random.rand(4).astype("float32"))  # OP: add
        return F.tanh(h)


class Counter(Linear):
    def forward(self, x: Any) -> Any:
        self.calls += 1
        h = self.linear(x)
        h = h * self.calls  # OP: multiply
        return h.sum()


class MoreTurns(Linear):
    def forward(self, x: Any) -> Any:
        self.calls += 1
        h = self.linear(x)
        for _ in range(self.calls):
            h = F.tanh(h)  # OP: tanh
        return h.sum()


class Clock(Linear):
    def forward(self, x: Any) -> Any:
        h = self.linear(x)
        h = h + time.perf_counter() % 1  # OP: add
        return h.sum()


class Growing(Linear):
    def forward(self, x: Any) -> Any:
        self.scales.append(2.0)
        h = self.linear(x)
        return F.tanh(h * sum(self.scales))  # OP: multiply


class FrozenInLoop(Linear):
    def forward(self, x: Any) -> Any:
        self.calls += 1
        turn = paddle.zeros([1], "int64")
        while turn < 2:  # OP: while
            x = x * self.calls
            turn = turn + 1
        return x


class ViewWritten(Linear):
    def forward(self, x: Any) -> Any:
        h = self.linear(x)
        first = h[0]
        first[:] = 0.0
        return h * 2  # OP: multiply


class EagerOnly(Linear):
    def forward(self, x: Any) -> Any:
        h = self.linear(x)
        if isinstance(h, paddle.Tensor):
            h = F.relu(h)  # OP: relu
        return h * 2


class OtherPath(Linear):
    def forward(self, x: Any) -> Any:
        h = self.linear(x)
        if paddle.in_dynamic_mode():  # noqa: SIM108
            h = F.gelu(h)  # OP: gelu
        else:
            h = F.relu(h)
        return h * 2


class OtherMask(Linear):
    def forward(self, x: Any) -> Any:
        h = self.linear(x)
        mask = paddle.full([3, 4], paddle.in_dynamic_mode(), "bool")  # OP: full
        return paddle.where(mask, h, x)


class OtherMaskElsewhere(Linear):
    def forward(self, x: Any) -> Any:
        h = self.linear(x)
        if paddle.in_dynamic_mode():  # noqa: SIM108
            mask = paddle.ones([3, 4])  # OP: full
        else:
            mask = paddle.zeros([3, 4])
        return h * mask


class OtherDtype(Linear):
    def forward(self, x: Any) -> Any:
        h = self.linear(x)
        h = h.astype("float64" if paddle.in_dynamic_mode() else "float32")  # OP: cast
        return paddle.exp(h)


class OtherDtypeInProgram(Linear):
    def forward(self, x: Any) -> Any:
        h = F.tanh(self.linear(x))
        wide = x.astype("float64")
        h = paddle.exp(h.astype("float32" if paddle.in_dynamic_mode() else "float64"))  # OP: cast
        return h, wide.sum()


class OtherDtypeAtTheEnd(Linear):
    def forward(self, x: Any) -> Any:
        h = self.linear(x)
        return h.astype("float64" if paddle.in_dynamic_mode() else "float32")  # OP: cast


class OtherParts(Linear):
    def forward(self, x: Any) -> Any:
        sizes = [1, 1, 2] if paddle.in_dynamic_mode() else [1, 2, 1]
        _, second, _ = paddle.split(self.linear(x), sizes, axis=1)  # OP: split
        return F.tanh(second).sum()


class WrittenInVain(Linear):
    """In a program, ``add_`` does not write ``h``."""

    def forward(self, x: Any) -> Any:
        h = F.tanh(self.linear(x))
        h.add_(x)  # OP: add_
        more = x + 1
        return more - h


SETTINGS = {"scale": 2.0}


class OldGlobal(Linear):
    """Compiled with another value of the global."""

    def forward(self, x: Any) -> Any:
        h = self.linear(x)
        return F.tanh(h * SETTINGS["scale"])  # OP: multiply


class OldFlag(Linear):
    """Compiled with another value of the attribute."""

    def forward(self, x: Any) -> Any:
        h = self.linear(x)
        if self.flag:
            h = F.tanh(h)  # OP: tanh
        return h + 1


def compiled(kind: type, x: Any) -> Any:
    """Make a layer; where its name says so, what it had when it was compiled is old."""
    layer = kind()
    if kind in (OldGlobal, OldFlag):
        layer = paddle.jit.to_static(layer, full_graph=True)
        SETTINGS["scale"] = 2.0
        layer(x)
        SETTINGS["scale"] = 3.0
        layer.flag = False
    return layer
