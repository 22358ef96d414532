"""Losses kept after ``backward()`` freed the saved tensors: a list, an average, a total."""

import paddle
from paddle import nn


class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = paddle.optimizer.Momentum(0.01, parameters=net.parameters())
        self.average = None

    def step(self, batch):
        loss = self.net(batch).abs().mean()
        loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        self.average = loss if self.average is None else 0.9 * self.average + 0.1 * loss
        return loss


paddle.seed(33)
trainer = Trainer(nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1)))
losses, total = [], 0
for _ in range(5):
    loss = trainer.step(paddle.randn([64, 64]))
    losses.append(loss)
    total += loss
print(float(total), float(paddle.stack(losses).mean()), float(trainer.average))
