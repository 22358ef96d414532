"""Validation in training mode: every batch builds a graph, but only a number is used."""

import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
criterion = nn.CrossEntropyLoss()
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())


def evaluate(batches):
    total = 0.0
    for x, y in batches:
        logits = net(x)  # BUG: unused-graph
        total += float(criterion(logits, y))
    return total / len(batches)


batches = [(paddle.randn([4, 8]), paddle.randint(0, 3, [4])) for _ in range(3)]
for x, y in batches:
    loss = criterion(net(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
print(evaluate(batches))
