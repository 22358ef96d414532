"""Outputs [N, 1] and targets [N]."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Linear(5, 1)
opt = paddle.optimizer.SGD(0.01, parameters=net.parameters())
for step in range(4):
    x = paddle.randn([16, 5])
    y = x.sum(axis=1)
    loss = nn.functional.mse_loss(net(x), y)  # WRONG
    #= loss = nn.functional.mse_loss(net(x).squeeze(-1), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
