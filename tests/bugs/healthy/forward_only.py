"""A cell that calls the model and keeps the result; the next cell may train."""

import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Conv2D(1, 4, 3), nn.BatchNorm2D(4), nn.ReLU(), nn.Flatten())
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
features = net(paddle.randn([2, 1, 8, 8]))
net(paddle.randn([2, 1, 8, 8]))
for _ in range(3):
    warm = net(paddle.randn([2, 1, 8, 8]))
loss = features.square().mean()
print(features.shape, float(loss))
