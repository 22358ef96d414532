"""Optimizers that wrap optimizers: slow weights, and an average of the weights."""

import paddle
from paddle import nn
from paddle.incubate import LookAhead, ModelAverage
from paddle.nn import functional as F

paddle.seed(31)
net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 3))
fast = paddle.optimizer.SGD(0.1, parameters=net.parameters())
optimizer = LookAhead(fast, alpha=0.5, k=2)
average = ModelAverage(
    0.15, parameters=net.parameters(), min_average_window=2, max_average_window=4
)
x, y = paddle.randn([32, 16]), paddle.randint(0, 3, [32])
for _ in range(6):
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    average.step()
    optimizer.clear_grad()
    average.clear_grad()
with paddle.no_grad():
    with average.apply(need_restore=True):
        print(F.cross_entropy(net(x), y).item())
    print(F.cross_entropy(net(x), y).item())
