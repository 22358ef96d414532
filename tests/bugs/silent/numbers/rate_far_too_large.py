"""The loss becomes infinite within a few steps."""
import paddle
from paddle import nn

paddle.seed(3)
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
opt = paddle.optimizer.SGD(3.0, parameters=net.parameters())  # WRONG
#= opt = paddle.optimizer.SGD(0.01, parameters=net.parameters())
x = paddle.randn([64, 5])
y = x.sum(axis=1, keepdim=True) * 2
for step in range(6):
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
