"""A sensor's missing value is written as NaN, and the average includes it."""

import paddle

readings = paddle.linspace(0.0, 1.0, 8)
net = paddle.nn.Sequential(paddle.nn.Linear(8, 4), paddle.nn.Tanh(), paddle.nn.Linear(4, 1))
readings[3] = float("nan")  # BUG: nan-origin
score = net(readings)
score.sum().backward()
