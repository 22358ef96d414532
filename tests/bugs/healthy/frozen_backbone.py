"""A backbone is frozen on purpose; a head is trained on its features."""

import paddle
from paddle import nn


class Probe(nn.Layer):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1D(8), nn.ReLU())
        self.adapter = nn.Linear(8, 8)
        self.head = nn.Linear(8, 2)
        for parameter in self.backbone.parameters():
            parameter.stop_gradient = True
        self.adapter.weight.trainable = False
        self.adapter.bias.trainable = False

    def forward(self, x):
        return self.head(self.adapter(self.backbone(x)))


paddle.seed(0)
net = Probe()
optimizer = paddle.optimizer.AdamW(parameters=net.parameters())
other = nn.Linear(6, 8)
for _ in range(2):
    x, y = paddle.randn([4, 6]), paddle.randint(0, 2, [4])
    with paddle.no_grad():
        extra = other(x).mean()
    loss = nn.functional.cross_entropy(net(x) + extra, y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
