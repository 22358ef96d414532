"""Attention scores are multiplied by sqrt(d) instead of divided."""
import math

import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(20)


class Block(nn.Layer):
    def __init__(self, d=64):
        super().__init__()
        self.d = d
        self.norm = nn.LayerNorm(d)
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        h = self.norm(x)
        q, k, v = self.q(h), self.k(h), self.v(h)
        scores = paddle.matmul(q, k, transpose_y=True) * math.sqrt(self.d)  # WRONG
        #= scores = paddle.matmul(q, k, transpose_y=True) / math.sqrt(self.d)
        mask = paddle.triu(paddle.full(scores.shape[1:], -1e9), 1)
        return x + self.o(paddle.matmul(F.softmax(scores + mask, axis=-1), v))  # OR


net = nn.Sequential(nn.Embedding(60, 64), Block(), Block(), nn.LayerNorm(64), nn.Linear(64, 60))
opt = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())
for step in range(4):
    ids = paddle.randint(0, 60, [4, 17])
    loss = F.cross_entropy(net(ids[:, :-1]).reshape([-1, 60]), ids[:, 1:].reshape([-1]))
    loss.backward()
    opt.step()
    opt.clear_grad()
