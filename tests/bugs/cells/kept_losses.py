"""The losses of a validation set are averaged at the end; until then each keeps its graph."""

import paddle
from paddle.nn import functional as F


def train(net, optimizer, batches):
    losses = []
    for inputs, targets in batches:
        loss = F.mse_loss(net(inputs), targets)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        unseen = paddle.randn([64, 6])
        losses.append(F.l1_loss(net(unseen), unseen[:, :2]))  # BUG: graph-kept
    return paddle.stack(losses)


paddle.seed(32)
net = paddle.nn.Sequential(paddle.nn.Linear(6, 32), paddle.nn.ReLU(), paddle.nn.Linear(32, 2))
optimizer = paddle.optimizer.SGD(0.01, parameters=net.parameters())
batches = [(paddle.randn([8, 6]), paddle.randn([8, 2])) for _ in range(4)]
train(net, optimizer, batches)
