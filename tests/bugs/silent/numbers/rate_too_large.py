"""The loss grows from step to step."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Linear(6, 1)
x = paddle.randn([32, 6])
y = x.sum(axis=1, keepdim=True)
opt = paddle.optimizer.SGD(5.0, parameters=net.parameters())  # WRONG
#= opt = paddle.optimizer.SGD(0.05, parameters=net.parameters())
for step in range(6):
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
