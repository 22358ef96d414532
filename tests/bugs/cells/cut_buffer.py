"""Features are written into a buffer with set_value, and the head reads the buffer."""

import paddle
from paddle import nn


class Memory(nn.Layer):
    def __init__(self):
        super().__init__()
        self.write = nn.Linear(4, 6)
        self.read = nn.Linear(6, 1)
        self.register_buffer("cell", paddle.zeros([2, 6]))

    def forward(self, x):
        update = nn.functional.tanh(self.write(x))
        self.cell.set_value(update)  # BUG: gradient-cut
        return self.read(self.cell)


paddle.seed(0)
net = Memory()
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for _ in range(2):
    net(paddle.randn([2, 4])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
