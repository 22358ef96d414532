"""Epochs of training with logged numbers, and validation without gradients."""

import numpy as np
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(5, 8), nn.Dropout(0.2), nn.Linear(8, 3))
schedule = paddle.optimizer.lr.ReduceOnPlateau(0.1, patience=0)
optimizer = paddle.optimizer.SGD(schedule, parameters=net.parameters())
criterion = nn.CrossEntropyLoss()
data = [(paddle.randn([4, 5]), paddle.randint(0, 3, [4])) for _ in range(3)]


@paddle.no_grad()
def validate():
    net.eval()
    losses = [criterion(net(x), y).item() for x, y in data]
    net.train()
    return float(np.mean(losses))


history = []
for _ in range(2):
    for x, y in data:
        logits = net(x)
        loss = criterion(logits, y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        correct = (logits.argmax(-1) == y).astype("float32").mean()
        history.append((float(loss), correct.item(), logits.numpy().max()))
    schedule.step(validate())
curve = paddle.to_tensor([loss for loss, _, _ in history])
print(curve.mean().item())
