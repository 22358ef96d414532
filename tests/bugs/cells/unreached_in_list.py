"""Heads are in two LayerLists, and the loop in forward skips the auxiliary ones."""

import paddle
from paddle import nn


class TwoHeads(nn.Layer):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(4, 8)
        self.heads = nn.LayerList([nn.Linear(8, 2), nn.Linear(8, 2)])
        self.auxiliary = nn.LayerList()
        for _ in range(2):
            self.auxiliary.append(nn.Linear(8, 1))  # BUG: unreached-parameter

    def forward(self, x):
        h = nn.functional.relu(self.trunk(x))
        return sum(head(h).sum() for head in self.heads)


paddle.seed(0)
net = TwoHeads()
optimizer = paddle.optimizer.AdamW(parameters=net.parameters())
for _ in range(2):
    net(paddle.randn([3, 4])).backward()
    optimizer.step()
    optimizer.clear_grad()
