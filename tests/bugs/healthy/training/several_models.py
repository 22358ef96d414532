"""An ensemble trained in one loop, cross-validation folds one by one, scores in a table."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(54)
x, y = paddle.randn([60, 16]), paddle.randint(0, 3, [60])


def make():
    return nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 3))


nets = [make() for _ in range(3)]
optimizers = [paddle.optimizer.Adam(1e-3, parameters=net.parameters()) for net in nets]
for _ in range(3):
    for net, optimizer in zip(nets, optimizers, strict=True):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
with paddle.no_grad():
    votes = paddle.stack([F.softmax(net(x), -1) for net in nets]).mean(0)
    print((votes.argmax(-1) == y).astype("float32").mean().item())

scores, models = [], []
for fold in range(3):
    held = paddle.arange(60) % 3 == fold
    net = make()
    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    for _ in range(2):
        loss = F.cross_entropy(net(x[~held]), y[~held])
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    net.eval()
    with paddle.no_grad():
        scores.append(float((net(x[held]).argmax(-1) == y[held]).astype("float32").mean()))
    models.append(net)
print(scores)
