"""The optimizer holds the backbone, but the backbone's forward runs under no_grad."""

import paddle
from paddle import nn


class Classifier(nn.Layer):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8))
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        with paddle.no_grad():
            features = self.backbone(x)  # BUG: gradient-cut
        return self.head(features)


paddle.seed(0)
net = Classifier()
optimizer = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for _ in range(3):
    x = paddle.randn([4, 6])
    loss = nn.functional.cross_entropy(net(x), paddle.randint(0, 3, [4]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
