"""Training and evaluation modes: Monte Carlo dropout, recalibrated running statistics."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(23)
net = nn.Sequential(
    nn.Linear(16, 64),
    nn.BatchNorm1D(64, momentum=0.8),
    nn.ReLU(),
    nn.Dropout(0.5),
    nn.Linear(64, 3),
)
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
x, y = paddle.randn([32, 16]), paddle.randint(0, 3, [32])
for _ in range(3):
    net.train()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    net.eval()
    with paddle.no_grad():
        print(F.cross_entropy(net(x), y).item())

with paddle.no_grad():
    net.train()
    for _ in range(4):
        net(paddle.randn([32, 16]))
    net.eval()
    for layer in net.sublayers():
        if isinstance(layer, nn.Dropout):
            layer.train()
    draws = paddle.stack([F.softmax(net(x), -1) for _ in range(8)])
    print(draws.mean(0).shape, draws.std(0).max().item())
