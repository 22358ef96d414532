"""Distillation: a small student matches the logits and features of a large teacher."""

import paddle
from paddle import nn
from paddle.nn import functional as F


class Net(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, width), nn.ReLU(), nn.Linear(width, width))
        self.head = nn.Linear(width, 5)

    def forward(self, x):
        features = self.body(x)
        return self.head(F.relu(features)), features


paddle.seed(29)
teacher, student, adapt = Net(96), Net(32), nn.Linear(32, 96)
x, y = paddle.randn([32, 16]), paddle.randint(0, 5, [32])
optimizer = paddle.optimizer.Adam(1e-3, parameters=teacher.parameters())
for _ in range(2):
    F.cross_entropy(teacher(x)[0], y).backward()
    optimizer.step()
    optimizer.clear_grad()
teacher.eval()
optimizer = paddle.optimizer.Adam(1e-3, parameters=[*student.parameters(), *adapt.parameters()])
for _ in range(3):
    with paddle.no_grad():
        wanted, wanted_features = teacher(x)
    logits, features = student(x)
    soft = F.kl_div(F.log_softmax(logits / 4), F.softmax(wanted / 4), reduction="batchmean") * 16
    loss = F.cross_entropy(logits, y) + soft + F.mse_loss(adapt(features), wanted_features)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
