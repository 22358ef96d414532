"""A gate that passed through float() is a constant."""

import paddle
from paddle import nn


class Gated(nn.Layer):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 1)
        self.body = nn.Linear(4, 4)

    def forward(self, x):
        openness = nn.functional.sigmoid(self.gate(x)).mean()
        return self.body(x) * float(openness)  # BUG: gradient-cut


paddle.seed(0)
net = Gated()
optimizer = paddle.optimizer.Momentum(0.1, parameters=net.parameters())
for _ in range(3):
    loss = net(paddle.randn([2, 4])).square().mean()
    print(float(loss))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
