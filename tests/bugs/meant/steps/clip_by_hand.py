"""Gradients are clipped by a call of the clip, not by the optimizer."""
import paddle
from paddle import nn
paddle.seed(0)
net = nn.Linear(4, 4)
clip = nn.ClipGradByGlobalNorm(0.1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for i in range(4):
    loss = (net(paddle.ones([2, 4])) ** 2).mean()
    loss.backward()
    for p, g in clip([(p, p.grad) for p in net.parameters()]):
        p.grad.set_value(g)
    opt.step(); opt.clear_grad()
