"""A learning rate search that stores and restores the weights; then training with a schedule."""

import copy

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(55)
net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 3))
x, y = paddle.randn([32, 16]), paddle.randint(0, 3, [32])
start = copy.deepcopy(net.state_dict())
rates, losses, smooth = [], [], None
optimizer = paddle.optimizer.SGD(1e-4, parameters=net.parameters())
for step in range(6):
    optimizer.set_lr(1e-4 * 3**step)
    loss = F.cross_entropy(net(x), y)
    smooth = loss.detach() if smooth is None else 0.9 * smooth + 0.1 * loss.detach()
    rates.append(optimizer.get_lr())
    losses.append(smooth.item())
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
net.set_state_dict(start)
schedule = paddle.optimizer.lr.OneCycleLR(max_learning_rate=0.1, total_steps=4)
optimizer = paddle.optimizer.SGD(schedule, parameters=net.parameters())
for _ in range(4):
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    schedule.step()
