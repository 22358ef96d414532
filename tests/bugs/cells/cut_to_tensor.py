"""A loss made from Python numbers cannot be differentiated."""

import paddle
from paddle import nn

paddle.seed(0)
net = nn.Linear(3, 1)
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
losses = []
for _ in range(3):
    losses.append(net(paddle.randn([2, 3])).square().mean().item())  # BUG: gradient-cut
total = paddle.to_tensor(losses).sum()
total.stop_gradient = False
total.backward()
optimizer.step()
