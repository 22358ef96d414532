"""Two optimizers of the same net take turns, and a fixed net measures the distance."""
import paddle
from paddle import nn

paddle.seed(0)
net, judge = nn.Linear(6, 6), nn.Sequential(nn.Linear(6, 8), nn.ReLU())
for parameter in judge.parameters():
    parameter.stop_gradient = True
fast = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
slow = paddle.optimizer.SGD(1e-2, parameters=net.parameters())
for step in range(6):
    x = paddle.randn([16, 6])
    loss = nn.functional.mse_loss(judge(net(x)), judge(2 * x))
    loss.backward()
    opt = (fast, slow)[step % 2]
    opt.step()
    opt.clear_grad()
