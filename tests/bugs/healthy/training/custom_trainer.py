"""A hand-written trainer: callbacks, meters, checkpoints, and resuming from them."""

import os
import tempfile

import paddle
from paddle import nn
from paddle.nn import functional as F


class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, count=1):
        self.total, self.count = self.total + value * count, self.count + count

    @property
    def mean(self):
        return self.total / max(1, self.count)


class Trainer:
    def __init__(self, net, folder):
        self.net, self.folder, self.epoch = net, folder, 0
        self.optimizer = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())
        self.last_loss, self.outputs, self.history = None, None, []

    def train_step(self, batch):
        x, y = batch
        self.outputs = self.net(x)
        self.last_loss = F.cross_entropy(self.outputs, y)
        self.last_loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        return {
            "loss": self.last_loss,
            "accuracy": (self.outputs.argmax(1) == y).astype("float32").mean(),
        }

    def fit(self, data, epochs):
        while self.epoch < epochs:
            meters = {"loss": Meter(), "accuracy": Meter()}
            for batch in data:
                for name, value in self.train_step(batch).items():
                    meters[name].update(value.item(), len(batch[0]))
            self.history.append({name: meter.mean for name, meter in meters.items()})
            self.epoch += 1
            self.save()

    def save(self):
        state = {
            "net": self.net.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "epoch": self.epoch,
        }
        paddle.save(state, os.path.join(self.folder, "last.pdparams"))

    def resume(self):
        state = paddle.load(os.path.join(self.folder, "last.pdparams"))
        self.net.set_state_dict(state["net"])
        self.optimizer.set_state_dict(state["optimizer"])
        self.epoch = state["epoch"]


paddle.seed(60)
data = [(paddle.randn([32, 16]), paddle.randint(0, 3, [32])) for _ in range(3)]
with tempfile.TemporaryDirectory() as folder:
    net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 3))
    trainer = Trainer(net, folder)
    trainer.fit(data, 2)
    trainer.resume()
    trainer.fit(data, 3)
print(trainer.history)
