"""A model compiled in the mode that may split functions; nothing is split."""

import paddle
from paddle import nn
from paddle.nn import functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.blocks = nn.LayerList([nn.Linear(16, 16) for _ in range(3)])
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 4)

    def forward(self, x, scale=1.0):
        for number, block in enumerate(self.blocks):
            x = x + scale * F.relu(block(self.norm(x)))
            if number == 1 and x.shape[0] > 2:
                x = paddle.where(x > 0, x, 0.1 * x)
        return self.head(x)


paddle.seed(30)
net = paddle.jit.to_static(Net(), full_graph=False)
optimizer = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for _ in range(3):
    loss = F.cross_entropy(net(paddle.randn([32, 16])), paddle.randint(0, 4, [32]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
