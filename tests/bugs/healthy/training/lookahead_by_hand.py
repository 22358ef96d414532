"""Slow weights kept as clones of the fast ones; sharpness-aware steps with two gradients."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(32)
net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 3))
optimizer = paddle.optimizer.Momentum(0.1, parameters=net.parameters())
slow = [parameter.detach().clone() for parameter in net.parameters()]
x, y = paddle.randn([32, 16]), paddle.randint(0, 3, [32])
for step in range(6):
    F.cross_entropy(net(x), y).backward()
    with paddle.no_grad():
        norm = paddle.stack([p.grad.norm() for p in net.parameters()]).norm()
        shifts = []
        for parameter in net.parameters():
            shift = parameter.grad * (0.05 / (norm + 1e-12))
            parameter.add_(shift)
            shifts.append(shift)
    optimizer.clear_grad()
    F.cross_entropy(net(x), y).backward()
    with paddle.no_grad():
        for parameter, shift in zip(net.parameters(), shifts, strict=True):
            parameter.subtract_(shift)
    optimizer.step()
    optimizer.clear_grad()
    if step % 3 == 2:
        with paddle.no_grad():
            for kept, parameter in zip(slow, net.parameters(), strict=True):
                kept.set_value(kept + 0.5 * (parameter - kept))
                parameter.set_value(kept)
