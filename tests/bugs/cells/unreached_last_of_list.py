"""A loop that stops before the last layer of a list."""

import paddle
from paddle import nn


class Tower(nn.Layer):
    def __init__(self, depth):
        super().__init__()
        self.depth = depth
        floors = [nn.Linear(4, 4) for _ in range(depth)]  # BUG: unreached-parameter
        self.floors = nn.LayerList(floors)

    def forward(self, x):
        for number in range(1, self.depth):
            x = paddle.tanh(self.floors[number - 1](x))
        return x


paddle.seed(55)
tower = Tower(4)
optimizer = paddle.optimizer.SGD(0.1, parameters=tower.parameters())
for _ in range(3):
    loss = tower(paddle.randn([8, 4])).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
