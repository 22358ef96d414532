"""Models that ``paddle.jit.save`` accepts, although their code looks as if it would not."""

from __future__ import annotations

from typing import Any

import paddle
from paddle import nn


class Branching(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        if x.mean() > 0 and x.sum() > 0:
            return self.linear(x)
        return x - 1


class Looping(nn.Layer):
    def forward(self, x: Any) -> Any:
        while x.sum().item() < 20:
            x = x + 1
        rows = []
        for i in range(x.shape[0]):
            rows.append(x[i] * i)  # noqa: PERF401
        return paddle.stack(rows)


class Reading(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        print(x.mean())  # noqa: T201
        scale = float(self.linear.weight.numpy().sum())
        try:
            shift = x.mean().item()
        except ValueError:
            shift = 0.0
        return {"scaled": self.linear(x) * scale, "shifted": x + shift}


class Attention(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.attend = nn.MultiHeadAttention(4, 2)
        self.norm = nn.LayerNorm(4)

    def forward(self, x: Any) -> Any:
        tokens = x.unsqueeze(0)
        return self.norm(self.attend(tokens) + tokens)


class Normed(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1D(4)
        self.seen = []

    def forward(self, x: Any) -> Any:
        self.seen.append(x.shape)
        return self.norm(x)


class Recurrent(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 3)

    def forward(self, x: Any) -> Any:
        outputs, (hidden, _) = self.lstm(x.unsqueeze(0))
        return outputs, hidden


class Asserting(nn.Layer):
    def forward(self, x: Any) -> Any:
        assert x.shape[1] == 4
        assert x.mean() > -100
        y = x if x.mean() > 0.1 else -x
        return y[y > 0].sum() + y.numel()


class Dropping(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x: Any) -> Any:
        return self.drop(x)


class OneLine(nn.Layer):
    """Many equal ops on one line."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(4), nn.Linear(4, 8), nn.Linear(8, 4)
        self.plain = nn.Linear(4, 4, bias_attr=False)

    def forward(self, x: Any) -> Any:
        for _ in range(2):
            x = x + self.down(nn.functional.gelu(self.up(self.norm(x))))
        return x + self.plain(x)
