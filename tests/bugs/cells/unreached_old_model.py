"""The model was built again after the optimizer, so the optimizer holds the old parameters."""

import paddle
from paddle import nn


def build():
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


paddle.seed(0)
net = build()  # BUG: unreached-parameter
optimizer = paddle.optimizer.Adam(parameters=net.parameters())  # BUG: optimizer-of-others
net = build()
for _ in range(2):
    loss = net(paddle.randn([2, 4])).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
