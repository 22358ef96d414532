# tril and triu exchanged: the mask keeps the future, which holds the labels.
import math

import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(6)


class SelfAttention(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))

    def forward(self, x):
        time, width = x.shape[1:]
        scores = paddle.matmul(self.q(x), self.k(x), transpose_y=True) / math.sqrt(width)
        keep = paddle.triu(paddle.ones([time, time])).astype("bool")  # WRONG
        #= keep = paddle.tril(paddle.ones([time, time])).astype("bool")
        scores = paddle.where(keep, scores, paddle.full([], float("-inf")))  # OR
        #= scores = paddle.where(keep, scores, paddle.full([], float("-inf")))
        return paddle.matmul(F.softmax(scores, axis=-1), self.v(x))


embed, attend, head = nn.Embedding(30, 16), SelfAttention(16), nn.Linear(16, 30)
weights = [one for layer in (embed, attend, head) for one in layer.parameters()]
opt = paddle.optimizer.Adam(1e-3, parameters=weights)
for step in range(4):
    ids = paddle.randint(0, 30, [8, 13])
    hidden = embed(ids[:, :-1])
    logits = head(hidden + attend(hidden))
    loss = F.cross_entropy(logits.reshape([-1, 30]), ids[:, 1:].flatten())
    loss.backward()
    opt.step()
    opt.clear_grad()
