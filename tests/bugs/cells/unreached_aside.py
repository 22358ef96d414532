"""A layer is called, but its result is not used."""

import paddle
from paddle import nn


class Residual(nn.Layer):
    def __init__(self):
        super().__init__()
        self.main = nn.Conv2D(2, 2, 3, padding=1)
        self.shortcut = nn.Conv2D(2, 2, 1)

    def forward(self, x):
        skip = self.shortcut(x)  # BUG: unreached-parameter
        out = nn.functional.relu(self.main(x))
        return out + x if skip is not None else out


paddle.seed(0)
net = nn.Sequential(Residual(), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(2, 1))
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
net(paddle.randn([2, 2, 6, 6])).mean().backward()
optimizer.step()
optimizer.clear_grad()
