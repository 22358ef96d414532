"""Functions that SOT compiles as a whole: no break may be reported."""

from __future__ import annotations

import dataclasses
import functools

import paddle
import paddle.nn.functional as F
from paddle import nn

from tests.breaks.planted import features, x

SCALES = {"a": 2.0, "b": 0.5}
count = 0


def plain(y):
    return features(features(y))


def on_python_values(y, factor=2, *, flag=True):
    if flag and y.shape[0] > 4:
        for step in range(factor):
            y = features(y) + step
    return features(y)


def over_rows(y):
    total = 0
    for at, row in enumerate(y):
        if at == 3:
            break
        total = total + row * SCALES["a"]
    return features(features(total))


def with_where(y):
    y = features(y)
    return features(paddle.where(y > 0, y, y * 0.1))


def in_containers(y):
    named = {"one": features(y), "two": y * 2}
    parts = [value * 2 for value in named.values()]
    first, *rest = parts
    return functools.reduce(lambda a, b: a + b, rest, first)


def generated(y):
    def scaled():
        for step in range(3):
            yield y * step

    return features(sum(scaled()))


def counting(y):
    global count  # noqa: PLW0603
    count += 1
    return features(features(y))


def remembering(y):
    calls = 0

    def again(value):
        nonlocal calls
        calls += 1
        return features(value)

    return again(again(y)) * calls


@dataclasses.dataclass
class Output:
    values: object
    factor: int


def structured(y):
    output = Output(features(y), 2)
    return features(output.values) * output.factor


class Block(nn.Layer):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.drop = nn.LayerNorm(width), nn.Dropout(0.1)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, y):
        return y + self.drop(self.down(F.gelu(self.up(self.norm(y)))))


class Network(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.LayerList([Block(4) for _ in range(2)])
        self.head, self.batch_norm = nn.Linear(4, 3), nn.BatchNorm1D(4)

    def forward(self, y):
        for block in self.blocks:
            y = block(y)
        y = self.batch_norm(y)
        return self.head(y) if self.training else F.softmax(self.head(y))


FUNCTIONS = (
    plain, on_python_values, over_rows, with_where, in_containers, generated, counting, remembering,
    structured, Network(),
)  # fmt: skip

__all__ = ["FUNCTIONS", "x"]
