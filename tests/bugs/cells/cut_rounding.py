"""Quantized weights learn nothing, because rounding has the derivative zero."""

import paddle
from paddle import nn


class QuantLinear(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.weight = self.create_parameter([width, width])

    def forward(self, x):
        weight = paddle.round(self.weight * 8) / 8  # BUG: gradient-cut
        return x @ weight


paddle.seed(0)
net = nn.Sequential(QuantLinear(4), nn.Linear(4, 1))
net(paddle.randn([3, 4])).mean().backward()
