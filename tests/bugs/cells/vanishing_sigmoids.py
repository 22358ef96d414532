"""Thirty sigmoids in a row: the first layers get a 1e-12th of the gradient."""

import paddle
from paddle import nn


class Block(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, hidden):
        return nn.functional.sigmoid(self.linear(hidden))  # BUG: gradient-scale


paddle.seed(0)
net = nn.Sequential(nn.Linear(8, 32), *[Block(32) for _ in range(30)], nn.Linear(32, 1))
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
data, target = paddle.randn([16, 8]), paddle.randn([16, 1])
loss = nn.functional.mse_loss(net(data), target)
loss.backward()
optimizer.step()
optimizer.clear_grad()
