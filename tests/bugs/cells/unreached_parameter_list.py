"""Scales are made with create_parameter, and forward does not use one of them."""

import paddle
from paddle import nn


def scale(layer):
    return layer.create_parameter([4], default_initializer=nn.initializer.Constant(1.0))


class Scaled(nn.Layer):
    def __init__(self):
        super().__init__()
        self.before = scale(self)
        self.after = scale(self)  # BUG: unreached-parameter
        self.linear = nn.Linear(4, 4, bias_attr=False)

    def forward(self, x):
        return self.linear(x * self.before)


paddle.seed(0)


def fit():
    net = Scaled()
    optimizer = paddle.optimizer.RMSProp(0.01, parameters=net.parameters())
    for _ in range(2):
        loss = net(paddle.randn([2, 4])).square().sum()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    return float(loss)


fit()
