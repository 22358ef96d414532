"""Language model: padding tokens are learnt as targets, because ignore_index is missing."""
import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(3)
PAD, V = 0, 40
rng = np.random.default_rng(3)


def batch(n=8, length=20):
    ids = np.full((n, length), PAD)
    for row in ids:
        k = rng.integers(4, 12)
        row[:k] = rng.integers(1, V, k)
    return paddle.to_tensor(ids)


class LM(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(V, 16, padding_idx=PAD)
        self.rnn = nn.GRU(16, 32)
        self.out = nn.Linear(32, V)

    def forward(self, ids):
        return self.out(self.rnn(self.embed(ids))[0])


net = LM()
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(4):
    ids = batch()
    logits = net(ids[:, :-1])
    loss = F.cross_entropy(logits.reshape([-1, V]), ids[:, 1:].reshape([-1]))  # WRONG
    #= loss = F.cross_entropy(logits.reshape([-1, V]), ids[:, 1:].reshape([-1]), ignore_index=PAD)
    loss.backward()
    opt.step()
    opt.clear_grad()
