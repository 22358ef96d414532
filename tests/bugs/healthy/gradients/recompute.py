"""Blocks that keep no activations, but compute them again in backward."""

import paddle
from paddle import nn
from paddle.distributed.fleet.utils import recompute
from paddle.nn import functional as F


class Block(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + F.dropout(self.down(F.gelu(self.up(self.norm(x)))), 0.1, training=self.training)


class Net(nn.Layer):
    def __init__(self, width=32, depth=3):
        super().__init__()
        self.enter = nn.Linear(16, width)
        self.blocks = nn.LayerList([Block(width) for _ in range(depth)])
        self.head = nn.Linear(width, 4)

    def forward(self, x):
        x = self.enter(x)
        for block in self.blocks:
            x = recompute(block, x) if self.training else block(x)
        return self.head(x)


paddle.seed(2)
net = Net()
optimizer = paddle.optimizer.AdamW(1e-3, parameters=net.parameters(), weight_decay=0.01)
for _ in range(3):
    x, y = paddle.randn([32, 16]), paddle.randint(0, 4, [32])
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    print(loss.item())
net.eval()
with paddle.no_grad():
    print(net(paddle.randn([32, 16])).argmax(-1))
