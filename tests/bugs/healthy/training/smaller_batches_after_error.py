"""A batch that is too large raises; the loop continues with a smaller one."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(35)
net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = paddle.optimizer.Adam(1e-3, parameters=net.parameters())


def step(size):
    x, y = paddle.randn([size, 16]), paddle.randint(0, 2, [size])
    loss = F.cross_entropy(net(x), y)
    if size > 32:
        raise MemoryError("out of memory")
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return float(loss)


size, history = 128, []
while len(history) < 4:
    try:
        history.append(step(size))
    except MemoryError:
        optimizer.clear_grad()
        size //= 2
print(size, history)
