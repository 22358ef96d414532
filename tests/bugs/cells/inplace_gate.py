"""A gate is clipped in place inside a layer, after the product that needs it."""

import paddle
from paddle.nn import functional as F


class GatedBlock(paddle.nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.value = paddle.nn.Linear(width, width)
        self.gate = paddle.nn.Linear(width, width)

    def forward(self, x):
        gate = F.sigmoid(self.gate(x))
        out = self.value(x) * gate
        gate.clip_(0.05, 0.95)  # BUG: inplace-modified
        return out, gate


paddle.seed(1)
block = GatedBlock(6)
out, gate = block(paddle.randn([3, 6]))
(out.sum() + gate.sum()).backward()
