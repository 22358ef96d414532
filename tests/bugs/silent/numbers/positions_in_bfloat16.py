"""Rotary positions in bfloat16: neighbours past 256 are equal."""
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(19)
D, L = 16, 320


def rotary_table(length, dim):
    inv = 1.0 / (10000 ** (paddle.arange(0, dim, 2, dtype="float32") / dim))
    pos = paddle.arange(length).astype("bfloat16")  # WRONG
    #= pos = paddle.arange(length).astype("float32")
    angle = paddle.outer(pos.astype("float32"), inv)
    return angle.cos(), angle.sin()


def rotate(x, cos, sin):
    a, b = x[..., ::2], x[..., 1::2]
    return paddle.concat([a * cos - b * sin, a * sin + b * cos], axis=-1)


class Attn(nn.Layer):
    def __init__(self):
        super().__init__()
        self.qkv, self.o = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.cos, self.sin = rotary_table(L, D)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, axis=-1)
        q, k = rotate(q, self.cos, self.sin), rotate(k, self.cos, self.sin)
        s = paddle.matmul(q, k, transpose_y=True) / D**0.5
        s = s + paddle.triu(paddle.full([L, L], -1e9), 1)
        return x + self.o(paddle.matmul(F.softmax(s), v))


net = nn.Sequential(nn.Embedding(30, D), Attn(), nn.Linear(D, 30))
opt = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())
for step in range(2):
    ids = paddle.randint(0, 30, [2, L + 1])
    loss = F.cross_entropy(net(ids[:, :-1]).reshape([-1, 30]), ids[:, 1:].reshape([-1]))
    loss.backward()
    opt.step()
    opt.clear_grad()
