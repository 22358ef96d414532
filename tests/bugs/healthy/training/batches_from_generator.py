"""Batches from a generator, a while loop with patience, a caught interruption."""

import itertools

import paddle
from paddle import nn
from paddle.nn import functional as F


def batches(size=32):
    while True:
        x = paddle.randn([size, 16])
        yield x, (x.sum(1) > 0).astype("int64")


def losses(net, optimizer):
    for x, y in batches():
        loss = F.cross_entropy(net(x), y)
        optimizer.clear_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


paddle.seed(34)
net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step, loss in enumerate(itertools.islice(losses(net, optimizer), 4)):
    print(step, loss)

optimizer.clear_grad()
stream, best, patience, step = batches(), float("inf"), 2, 0
while patience and step < 8:
    x, y = next(stream)
    try:
        if step == 3:
            net(x[:, :7])
        loss = F.cross_entropy(net(x), y)
    except ValueError as error:
        print("left out:", type(error).__name__)
        step += 1
        continue
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    patience, best = (2, loss.item()) if loss.item() < best else (patience - 1, best)
    step += 1
try:
    for step, (x, y) in enumerate(stream):
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
        optimizer.clear_grad()
        if step == 2:
            raise KeyboardInterrupt
except KeyboardInterrupt:
    print("stopped after", step)
