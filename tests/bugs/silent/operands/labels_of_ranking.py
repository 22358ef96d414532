"""A ranking loss takes labels of -1 and 1, and gets 0 and 1."""
import numpy as np
import paddle
from paddle import nn


class Scorer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 32), nn.GELU(), nn.Linear(32, 1))

    def forward(self, doc):
        return self.body(doc).squeeze(-1)


rng = np.random.RandomState(0)
w = rng.randn(12)
model = Scorer()
criterion = nn.MarginRankingLoss(margin=0.2)
optim = paddle.optimizer.AdamW(learning_rate=2e-3, parameters=model.parameters())
for epoch in range(3):
    a = rng.randn(40, 12).astype("float32")
    b = rng.randn(40, 12).astype("float32")
    better = (a @ w > b @ w).astype("float32")
    left, right = model(paddle.to_tensor(a)), model(paddle.to_tensor(b))
    loss = criterion(left, right, paddle.to_tensor(better))  # WRONG
    #= loss = criterion(left, right, paddle.to_tensor(2 * better - 1))
    loss.backward()
    optim.step()
    optim.clear_grad()
