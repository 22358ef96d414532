"""A frozen pretrained backbone with a new head; later the backbone's last block is trained, too."""

import paddle
from paddle import nn
from paddle.nn import functional as F
from paddle.vision.models import resnet18

paddle.seed(15)
backbone = resnet18(num_classes=0, with_pool=True)
for parameter in backbone.parameters():
    parameter.stop_gradient = True
head = nn.Linear(512, 3)
optimizer = paddle.optimizer.Adam(1e-3, parameters=head.parameters())
x, y = paddle.randn([4, 3, 32, 32]), paddle.randint(0, 3, [4])
backbone.eval()
for _ in range(2):
    with paddle.no_grad():
        features = backbone(x).flatten(1)
    loss = F.cross_entropy(head(features), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()

for parameter in backbone.layer4.parameters():
    parameter.stop_gradient = False
optimizer = paddle.optimizer.Adam(
    parameters=[
        {"params": backbone.layer4.parameters(), "learning_rate": 0.1},
        {"params": head.parameters()},
    ],
    learning_rate=1e-4,
)
for _ in range(2):
    loss = F.cross_entropy(head(backbone(x).flatten(1)), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
