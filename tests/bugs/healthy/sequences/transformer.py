"""Encoder and decoder with masks for padding and for the future."""

import math

import paddle
from paddle import nn
from paddle.nn import functional as F


class Positions(nn.Layer):
    def __init__(self, width, longest=32):
        super().__init__()
        place = paddle.arange(longest, dtype="float32").unsqueeze(1)
        rate = paddle.exp(
            paddle.arange(0, width, 2, dtype="float32") * (-math.log(10000.0) / width)
        )
        table = paddle.zeros([longest, width])
        table[:, 0::2] = paddle.sin(place * rate)
        table[:, 1::2] = paddle.cos(place * rate)
        self.register_buffer("table", table)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return self.dropout(x + self.table[: x.shape[1]])


class Net(nn.Layer):
    def __init__(self, words=40, width=32):
        super().__init__()
        self.embedding = nn.Embedding(words, width, padding_idx=0)
        self.positions = Positions(width)
        self.transformer = nn.Transformer(width, 4, 2, 2, 64)
        self.out = nn.Linear(width, words)

    def forward(self, source, target):
        padding = (source == 0).astype("float32").unsqueeze([1, 2]) * -1e9
        future = self.transformer.generate_square_subsequent_mask(target.shape[1])
        embed = lambda tokens: self.positions(self.embedding(tokens) * math.sqrt(32))  # noqa: E731
        return self.out(self.transformer(embed(source), embed(target), padding, future, padding))


paddle.seed(22)
net = Net()
schedule = paddle.optimizer.lr.NoamDecay(d_model=32, warmup_steps=10)
optimizer = paddle.optimizer.Adam(
    schedule, beta2=0.98, parameters=net.parameters(), grad_clip=nn.ClipGradByNorm(1.0)
)
source, target = paddle.randint(1, 40, [8, 9]), paddle.randint(1, 40, [8, 8])
source[5:, 6:] = 0
target[5:, 5:] = 0
for _ in range(3):
    logits = net(source, target[:, :-1])
    loss = F.cross_entropy(logits, target[:, 1:], ignore_index=0, label_smoothing=0.0)
    loss.backward()
    optimizer.step()
    schedule.step()
    optimizer.clear_grad()
