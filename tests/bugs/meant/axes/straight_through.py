"""Straight-through estimators: round, sign, Gumbel; and residual blocks that return a difference."""
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(5)
np.random.seed(5)
class Difference(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
    def forward(self, x):
        return F.relu(self.fc(x)) - x
enc = nn.Linear(6, 6); block = Difference(); dec = nn.Linear(6, 6)
opt = paddle.optimizer.Adam(1e-3, parameters=enc.parameters() + block.parameters() + dec.parameters())
for step in range(3):
    x = paddle.randn([16, 6])
    h = enc(x)
    h = h + block(h)
    q = h + (paddle.round(h) - h).detach()
    with paddle.no_grad():
        gap = paddle.sign(h) - h
    s = h + gap
    commit = (paddle.round(h).detach() - h).square().mean()
    noise = h + (paddle.floor(x) - x)
    hard = F.gumbel_softmax(h, hard=True)
    loss = F.mse_loss(dec(q + s + noise + hard), x) + 0.2 * commit
    loss.backward(); opt.step(); opt.clear_grad()
