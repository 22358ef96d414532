"""The usual loop: a DataLoader, epochs with validation, best weights saved and loaded."""

import os
import tempfile

import numpy as np
import paddle
from paddle import nn
from paddle.io import DataLoader, Dataset, random_split
from paddle.nn import functional as F


class Samples(Dataset):
    def __init__(self, count=48):
        super().__init__()
        draw = np.random.default_rng(0)
        self.x = draw.normal(size=(count, 20)).astype("float32")
        self.y = (self.x.sum(1) > 0).astype("int64")

    def __getitem__(self, index):
        return self.x[index], self.y[index]

    def __len__(self):
        return len(self.x)


def evaluate(net, loader):
    net.eval()
    total, correct, count = 0.0, 0, 0
    with paddle.no_grad():
        for x, y in loader:
            logits = net(x)
            total += F.cross_entropy(logits, y, reduction="sum").item()
            correct += int((logits.argmax(1) == y).sum())
            count += len(y)
    return total / count, correct / count


paddle.seed(9)
training, validation = random_split(Samples(), [32, 16])
train_loader = DataLoader(training, batch_size=8, shuffle=True, drop_last=True)
validation_loader = DataLoader(validation, batch_size=8)
net = nn.Sequential(
    nn.Linear(20, 64), nn.BatchNorm1D(64), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, 2)
)
schedule = paddle.optimizer.lr.LinearWarmup(
    paddle.optimizer.lr.CosineAnnealingDecay(0.01, T_max=6), 2, 0.0, 0.01
)
optimizer = paddle.optimizer.Momentum(
    schedule, parameters=net.parameters(), weight_decay=paddle.regularizer.L2Decay(1e-4)
)
best, history = float("inf"), []
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "best.pdparams")
    for epoch in range(2):
        net.train()
        running = 0.0
        for step, (x, y) in enumerate(train_loader):
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            schedule.step()
            running += loss.item()
        loss, accuracy = evaluate(net, validation_loader)
        history.append((running / (step + 1), loss, accuracy, optimizer.get_lr()))
        if loss < best:
            best = loss
            paddle.save(net.state_dict(), path)
            paddle.save(optimizer.state_dict(), os.path.join(folder, "best.pdopt"))
    net.set_state_dict(paddle.load(path))
    optimizer.set_state_dict(paddle.load(os.path.join(folder, "best.pdopt")))
print(history, evaluate(net, validation_loader))
