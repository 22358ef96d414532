"""A clipping condition splits the compiled network, and a check makes its helper run eagerly."""

import paddle
from paddle import nn
from paddle.nn import functional as F


def checked(hidden):
    with paddle.no_grad():  # BUG: graph-break
        return hidden.abs().max()


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(16, 32), nn.Linear(32, 4)

    def forward(self, x):
        hidden = F.gelu(self.body(x))
        if checked(hidden) > 1.0:  # BUG: graph-break
            hidden = hidden / 2
        return self.head(F.layer_norm(hidden, [32]))


paddle.seed(0)
net = paddle.jit.to_static(Net(), full_graph=False)
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for _ in range(2):
    F.cross_entropy(net(paddle.randn([8, 16])), paddle.randint(0, 4, [8])).backward()
    optimizer.step()
    optimizer.clear_grad()
