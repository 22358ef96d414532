"""Losses, predictions and log entries of every epoch, kept after backward."""

from collections import defaultdict

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(36)
net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
optimizer = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
data = [(paddle.randn([64, 64]), paddle.randint(0, 10, [64])) for _ in range(4)]
losses, log, best = [], defaultdict(list), None
for epoch in range(3):
    total = 0
    for x, y in data:
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss)
        log["loss"].append(loss)
        total += loss
    log["epoch"].append(total / len(data))
    if best is None or float(total) < float(best):
        best = total
print(float(paddle.stack(losses).mean()), [float(one) for one in log["epoch"]], float(best))
