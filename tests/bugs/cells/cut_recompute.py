"""The first block is recomputed, but its input needs no gradient: its weights never learn."""

import paddle
from paddle import nn
from paddle.distributed.fleet.utils import recompute


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.blocks = nn.LayerList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x):
        x = recompute(self.blocks[0], x)  # BUG: gradient-cut
        for block in self.blocks[1:]:
            x = recompute(block, x)  # BUG: gradient-cut
        return x


paddle.seed(1)
net = Net()
optimizer = paddle.optimizer.AdamW(parameters=net.parameters())
for _ in range(2):
    net(paddle.randn([2, 4])).square().mean().backward()
    optimizer.step()
    optimizer.clear_grad()
