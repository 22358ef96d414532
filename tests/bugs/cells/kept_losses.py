"""The losses of an epoch are averaged at its end, each with its graph."""

import paddle
from paddle.nn import functional as F


def train(net, optimizer, batches):
    losses = []
    for inputs, targets in batches:
        loss = F.mse_loss(net(inputs), targets)  # BUG: graph-kept
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss)
    return float(paddle.stack(losses).mean())


paddle.seed(32)
net = paddle.nn.Linear(6, 2)
optimizer = paddle.optimizer.SGD(0.01, parameters=net.parameters())
batches = [(paddle.randn([8, 6]), paddle.randn([8, 2])) for _ in range(4)]
train(net, optimizer, batches)
