"""The layers of a network are kept in a plain list, which registers none of them."""

import paddle
from paddle import nn


class Stack(nn.Layer):
    def __init__(self, depth):
        super().__init__()
        self.stem = nn.Linear(4, 8)
        self.hidden = [nn.Linear(8, 8) for _ in range(depth)]  # BUG: untrained-parameter
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        x = self.stem(x)
        for layer in self.hidden:
            x = nn.functional.relu(layer(x))
        return self.head(x)


paddle.seed(50)
net = Stack(3)
optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())
for _ in range(3):
    loss = net(paddle.randn([8, 4])).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
