"""A GPT of many small blocks on real Paddle: much host time, little arithmetic."""

from __future__ import annotations

from collections.abc import Callable

import paddle
from paddle import nn
from paddle.nn import functional

import paddle_lab
from paddle_lab.api import Trace


class Block(nn.Layer):
    """Attention and a feed-forward part, each with a norm before it and a residual connection."""

    def __init__(self, width: int, heads: int, mask: paddle.Tensor) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.heads, self.mask = heads, mask

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.narrow(functional.gelu(self.wide(self.norm2(x))))

    def attention(self, x: paddle.Tensor) -> paddle.Tensor:
        batch, length, width = x.shape
        depth = width // self.heads
        split = self.qkv(x).reshape([batch, length, 3, self.heads, depth])
        query, key, value = split.transpose([2, 0, 3, 1, 4]).unbind(0)
        scores = (query @ key.transpose([0, 1, 3, 2])) * depth**-0.5
        weights = functional.softmax(scores + self.mask, -1)
        mixed = (weights @ value).transpose([0, 2, 1, 3]).reshape([batch, length, width])
        return self.out(mixed)


class GPT(nn.Layer):
    """Embeddings, blocks, and a head over the vocabulary."""

    def __init__(
        self, blocks: int, *, width: int = 32, heads: int = 2, words: int = 100, length: int = 16
    ) -> None:
        super().__init__()
        mask = paddle.triu(paddle.full([length, length], -1e4), 1)
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.LayerList([Block(width, heads, mask) for _ in range(blocks)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, ids: paddle.Tensor) -> paddle.Tensor:
        x = self.words(ids) + self.places(paddle.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def work(blocks: int, *, is_step: bool = False) -> Callable[[], object]:
    """Return a function that runs the forward pass, or a training step, of a warmed-up GPT."""
    paddle.seed(0)
    net = GPT(blocks)
    ids = paddle.randint(0, 100, [1, 16])
    optimizer = paddle.optimizer.AdamW(parameters=net.parameters())

    def step() -> paddle.Tensor:
        loss = net(ids).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    run = step if is_step else lambda: net(ids)
    for _ in range(3):
        run()
    return run


def traced(blocks: int, *, is_step: bool = False) -> Trace:
    """Return the trace of a GPT's forward pass or training step."""
    run = work(blocks, is_step=is_step)
    with paddle_lab.trace() as trace:
        result = run()  # it and its backward graph are alive when the trace ends
    del result
    return trace
