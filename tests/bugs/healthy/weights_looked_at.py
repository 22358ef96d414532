"""Weights are copied, measured and averaged for a log, without running a model."""

import paddle
from paddle import nn
from paddle.incubate import ModelAverage

paddle.seed(46)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
average = ModelAverage(
    0.15, parameters=net.parameters(), min_average_window=2, max_average_window=10
)
before = [parameter.clone() for parameter in net.parameters()]
for _ in range(4):
    loss = net(paddle.randn([6, 4])).square().mean()
    loss.backward()
    optimizer.step()
    average.step()
    optimizer.clear_grad()
    norms = {name: float(parameter.norm()) for name, parameter in net.named_parameters()}
    total = sum(parameter.abs().sum().item() for parameter in net.parameters())
    print(norms["0.weight"], total)
moved = [float((now - then).abs().max()) for now, then in zip(net.parameters(), before)]
gone = [float((now - then.detach()).norm()) for now, then in zip(net.parameters(), before)]
with average.apply(), paddle.no_grad():
    print(max(moved), max(gone), net(paddle.ones([1, 4])).tolist())
