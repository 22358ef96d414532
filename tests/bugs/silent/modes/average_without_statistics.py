"""The average follows the parameters and not the running statistics, which stay 0 and 1.

source: https://github.com/FlyreelAI/sesemi/issues/36
"""
import copy

import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1D(16), nn.ReLU(), nn.Linear(16, 3))
average = copy.deepcopy(net)
average.eval()
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())


def update(decay=0.9):
    with paddle.no_grad():
        #- WRONG
        for own, other in zip(average.parameters(), net.parameters()):
            own.set_value(decay * own + (1 - decay) * other)  # OR
        #+ for own, other in zip(average.buffers(), net.buffers()):
        #+     own.set_value(other)


for epoch in range(3):
    for _ in range(2):
        x, y = 3 + 2 * paddle.randn([16, 6]), paddle.randint(0, 3, [16])
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        update()
    with paddle.no_grad():
        x, y = 3 + 2 * paddle.randn([16, 6]), paddle.randint(0, 3, [16])
        score = (average(x).argmax(1) == y).astype("float32").mean().item()  # OR
