"""The backbone's norms are set to eval() once; the `train()` of each epoch undoes it.

source: TrainCheck mmpretrain-702, https://github.com/open-mmlab/mmpretrain/issues/702
"""

import paddle
from paddle import nn

paddle.seed(0)


class Classifier(nn.Layer):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2D(3, 8, 3), nn.BatchNorm2D(8), nn.ReLU())
        self.head = nn.Sequential(nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(8, 4))

    def freeze(self):
        self.backbone.eval()
        for parameter in self.backbone.parameters():
            parameter.stop_gradient = True

    def forward(self, x):
        return self.head(self.backbone(x))


net = Classifier()
net.freeze()  # OR
opt = paddle.optimizer.Adam(1e-3, parameters=net.head.parameters())
for epoch in range(3):
    net.train()  # WRONG
    #= net.train(); net.backbone.eval()
    for _ in range(2):
        x, y = paddle.randn([8, 3, 8, 8]), paddle.randint(0, 4, [8])
        loss = nn.functional.cross_entropy(net(x), y)  # OR
        loss.backward()
        opt.step()
        opt.clear_grad()
