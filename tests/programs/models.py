"""Models with everything that a program can contain: layers, branches, loops, lists of tensors."""

from __future__ import annotations

import paddle
from paddle import nn
from paddle.nn import functional


class Block(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x):
        x = x + self.down(functional.gelu(self.up(self.norm(x))))
        if x.sum() > 0:
            x = x * 2
        else:
            x = functional.relu(x)
            x = x + 1
        first, second = paddle.split(x, 2, axis=1)
        return paddle.concat([second, first], axis=1)


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.LayerList([Block(), Block()])
        self.head = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        count = paddle.zeros([1], "int64")
        while count < 3:
            x = functional.tanh(x)
            count = count + 1
        return self.head(x)


def saved(folder, layer=None):
    """Save a model as ``paddle.jit.save`` does, and return the path without its ending."""
    layer = layer or Net()
    layer.eval()
    prefix = folder / "model"
    spec = [paddle.static.InputSpec([None, 8], "float32", "x")]
    paddle.jit.save(layer, str(prefix), input_spec=spec)
    return prefix
