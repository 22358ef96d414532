"""After the training, gradients are measured without steps."""

import paddle
from paddle import nn
import paddle.nn.functional as F

net = nn.Linear(6, 3)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for i in range(4):
    F.cross_entropy(net(paddle.randn([8, 6])), paddle.randint(0, 3, [8])).backward()
    opt.step()
    opt.clear_grad()
fisher = [paddle.zeros_like(p) for p in net.parameters()]
for i in range(6):
    F.cross_entropy(net(paddle.randn([1, 6])), paddle.randint(0, 3, [1])).backward()
    for f, p in zip(fisher, net.parameters()):
        f.add_(p.grad**2)
    opt.clear_grad()
