"""Four small batches for one step of the optimizer, losses logged as a running mean."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(10)
net = nn.Sequential(
    nn.Embedding(100, 32), nn.Flatten(), nn.Linear(32 * 8, 64), nn.GELU(), nn.Linear(64, 5)
)
optimizer = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())
every, running = 4, 0.0
optimizer.clear_grad()
for step in range(12):
    tokens, labels = paddle.randint(0, 100, [16, 8]), paddle.randint(0, 5, [16])
    loss = F.cross_entropy(net(tokens), labels) / every
    loss.backward()
    running += loss.detach()
    if (step + 1) % every == 0:
        optimizer.step()
        optimizer.clear_grad()
        print(float(running))
        running = 0.0
