# Attention that takes [time, batch, features], as annotated implementations have it, and a table of
# positions that is cut by the time.
import math

import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(0)


def table(longest, width):
    position = paddle.arange(longest, dtype="float32").unsqueeze(1)
    rate = paddle.exp(paddle.arange(0, width, 2, dtype="float32") * (-math.log(1e4) / width))
    pe = paddle.zeros([longest, width])
    pe[:, 0::2] = paddle.sin(position * rate)
    pe[:, 1::2] = paddle.cos(position * rate)
    return pe.unsqueeze(1)


class MultiHeadAttention(nn.Layer):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        time, batch = x.shape[:2]
        q, k, v = self.qkv(x).reshape([time, batch, self.heads, 3 * self.size]).chunk(3, axis=-1)
        scores = paddle.einsum("ibhd,jbhd->bhij", q, k) / math.sqrt(self.size)
        mixed = paddle.einsum("bhij,jbhd->ibhd", F.softmax(scores, axis=-1), v)
        return self.out(mixed.reshape([time, batch, -1]))


class TransformerEncoderLayer(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.attention, self.norm = MultiHeadAttention(width, 2), nn.LayerNorm(width)
        self.feed = nn.Sequential(nn.Linear(width, 32), nn.ReLU(), nn.Linear(32, width))

    def forward(self, x):
        return self.norm(x + self.feed(x + self.attention(x)))


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(40, 16), nn.Linear(16, 3)
        self.register_buffer("pe", table(64, 16))
        self.layer = TransformerEncoderLayer(16)

    def forward(self, ids):
        x = self.embed(ids).transpose([1, 0, 2])
        return self.head(self.layer(x + self.pe[: x.shape[0]]).mean(0))


net = Net()
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(4):
    ids = paddle.randint(0, 40, [8, 12])
    loss = F.cross_entropy(net(ids), ids[:, 0] % 3)
    loss.backward()
    opt.step()
    opt.clear_grad()
