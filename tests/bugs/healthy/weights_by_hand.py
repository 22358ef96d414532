"""Averaged weights are written and counted by hand under no_grad: they build no graph."""

import copy

import paddle
from paddle import nn

paddle.seed(2)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
average = copy.deepcopy(net)
optimizer = paddle.optimizer.RMSProp(0.01, parameters=net.parameters())
for _ in range(3):
    net(paddle.randn([6, 3])).square().mean().backward()
    optimizer.step()
    optimizer.clear_grad()
    with paddle.no_grad():
        for kept, weight in zip(average.parameters(), net.parameters()):
            kept.multiply_(paddle.to_tensor(0.9))
            kept.add_(0.1 * weight)
            print(kept.abs().max().item(), (kept == 0.1).sum().item())
