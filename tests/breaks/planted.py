"""Functions with one planted break each; a comment marks the line and names the kind."""

from __future__ import annotations

import json
import math
import random
import re
import time

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

x = paddle.linspace(-1.0, 1.0, 32).reshape([8, 4])
labels = paddle.to_tensor([0, 1, 2, 3, 0, 1, 2, 3])
history: list[float] = []


def features(y):
    for _ in range(3):
        y = F.gelu(y) * 1.5 + F.tanh(y)
    return y


# -- conditions ---------------------------------------------------------------------------------


def clipped_update(y):
    y = features(y)
    norm = y.norm()
    if norm > 1.0:  # BREAK: if
        y = y / norm
    return features(y)


def gated(y):
    y = features(y)
    scale = 2.0 if y.mean() > 0 else 0.5  # BREAK: if
    return features(y * scale)


def until_small(y):
    y = features(y)
    steps = 0
    while y.abs().max() > 0.1:  # BREAK: while
        y = y * 0.5
        steps += 1
    return features(y)


def any_active(y):
    y = features(y)
    found = y.max() > 0 or y.min() < -1  # BREAK: and-or
    return features(y), found


def guarded(y):
    y = features(y)
    assert paddle.isfinite(y).all(), "not finite"  # BREAK: assert
    return features(y)


def skip_rows(y):
    y = features(y)
    total = y.sum() * 0
    for row in y:  # BREAK: for
        if row.sum() < 0:  # BREAK: if
            continue
        total = total + row.sum()
    return features(y) + total


def first_positive(y):
    y = features(y)
    for row in y:  # BREAK: for
        if row.sum() > 0:
            return row
    return y[0]


def as_many_as(y):
    y = features(y)
    count = labels.max()
    for _ in range(count):  # BREAK: for
        y = y + 1
    return features(y)


def _damped(y, limit):
    energy = (y * y).mean()
    if energy > limit:  # BREAK: if
        return y * 0.5
    return y


def nested_helper(y):
    return features(_damped(features(y), 0.01))


def _deeper(y):
    return _damped(y + 1, 0.02)


def two_deep(y):
    return features(_deeper(features(y)))


# -- values -------------------------------------------------------------------------------------


def logged_loss(y):
    loss = features(y).mean()
    history.append(loss.item())  # BREAK: tensor-value
    return features(y) * loss


def as_float(y):
    y = features(y)
    scale = float(y.max())  # BREAK: tensor-value
    return features(y / scale)


def through_numpy(y):
    y = features(y)
    weights = np.exp(y.numpy())  # BREAK: tensor-value  # BREAK: numpy
    return features(y), weights


def to_list(y):
    y = features(y)
    numbers = y.mean(axis=1).tolist()  # BREAK: tensor-value
    return features(y) * numbers[0]


# -- calls --------------------------------------------------------------------------------------


def printed(y):
    y = features(y)
    print("shape", y.shape)  # noqa: T201  # BREAK: print
    return features(y)


def formatted(y):
    y = features(y)
    name = f"mean {y.mean()}"  # BREAK: format
    return features(y), name


def window(y):
    y = features(y)
    weights = np.hanning(4)  # BREAK: numpy
    return features(y), weights


def augmented(y):
    y = features(y)
    if random.random() > 0.5:  # BREAK: random
        y = y.flip([0])
    return features(y)


def timed(y):
    begin = time.perf_counter()  # BREAK: builtin
    y = features(y)
    return features(y), begin


def matched(y):
    y = features(y)
    found = re.match("a", "abc")  # BREAK: builtin
    return features(y) if found else y


# -- statements ---------------------------------------------------------------------------------


def without_gradient(y):
    y = features(y)
    with paddle.no_grad():  # BREAK: with
        target = features(y)
    return y - target


def forgiving(y):
    y = features(y)
    try:  # BREAK: try
        y = y.reshape([4, 8])
    except ValueError:
        y = y.flatten()
    return features(y)


def late_import(y):
    import cmath  # BREAK: import

    return features(features(y)) * cmath.pi


def yielding(y):
    for _ in range(2):
        y = features(y)
        yield y  # BREAK: generator


# -- layers -------------------------------------------------------------------------------------


class Clamped(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, y):
        y = features(self.fc(y))
        if y.abs().max() > 0.5:  # BREAK: if
            y = y * 0.5
        return features(y)


class Monitored(nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner, self.out = nn.LayerNorm(4), nn.Linear(4, 2)
        self.seen = 0.0

    def forward(self, y):
        y = features(self.inner(y))
        self.seen = y.std().item()  # BREAK: tensor-value
        return self.out(features(y))


class Router(nn.Layer):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 2)
        self.experts = nn.LayerList([nn.Linear(4, 4) for _ in range(2)])

    def pick(self, y):
        return int(self.gate(y).mean(axis=0).argmax())  # BREAK: tensor-value

    def forward(self, y):
        y = features(y)
        return features(self.experts[self.pick(y)](y))


class Stack(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.blocks = nn.Linear(4, 4), nn.Sequential(Inner(), nn.ReLU())

    def forward(self, y):
        return features(self.blocks(features(self.first(y))))


class Inner(nn.Layer):
    def forward(self, y):
        while y.sum() > 4:  # BREAK: while
            y = y - 0.5
        return y


def rounded(y):
    y = features(y)
    scale = math.floor(y.max())  # BREAK: builtin
    return features(y) * scale


def described(y):
    y = features(y)
    told = json.dumps({"rows": 8})  # BREAK: builtin
    return features(y) * len(told)


def of_a_tensor(y):
    y = features(y)
    numbers = np.asarray(y)  # BREAK: numpy
    scale = [2.0, 3.0, 4.0][labels.min()]  # BREAK: tensor-value
    largest = max(y.mean(), y.sum())  # BREAK: tensor-value
    y = features(y) * scale * largest
    y.stop_gradient = False
    y.register_hook(lambda gradient: gradient * 2)  # BREAK: paddle-api
    return features(y), numbers


def before_loops(y):
    y = features(y)
    for step in range(int(labels.max())):  # BREAK: tensor-value
        y = y + step
    for name in sorted({"b": 1, "a": 2}):  # BREAK: builtin
        y = features(y) * len(name)
    return features(y)


FUNCTIONS = (
    clipped_update, gated, until_small, any_active, guarded, skip_rows, first_positive, as_many_as,
    nested_helper, two_deep, logged_loss, as_float, through_numpy, to_list, printed, formatted,
    window, augmented, timed, matched, without_gradient, forgiving, late_import, yielding, rounded,
    described, of_a_tensor, before_loops, Clamped(), Monitored(), Router(), Stack(),
)  # fmt: skip
