"""Each sample should have its own weight, but every sample is combined with every weight."""

import paddle
from paddle import nn


class Regression(nn.Layer):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(4, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        return self.out(paddle.tanh(self.hidden(x)))


def weighted_loss(model, batch, target, weight):
    error = (model(batch) - target).square()
    return (error * weight).mean()  # BUG: broadcast-surprise


paddle.seed(5)
model = Regression()
weighted_loss(model, paddle.rand([10, 4]), paddle.rand([10, 1]), paddle.rand([10])).backward()
