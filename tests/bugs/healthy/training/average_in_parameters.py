"""A teacher is the moving average of its student, written in place; also built-in averages."""

import copy

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(13)
student = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 16))
teacher = copy.deepcopy(student)
for parameter in teacher.parameters():
    parameter.stop_gradient = True
predictor = nn.Linear(16, 16)
optimizer = paddle.optimizer.Adam(1e-3, parameters=[*student.parameters(), *predictor.parameters()])
for _ in range(3):
    image = paddle.randn([32, 16])
    first, second = (image + 0.1 * paddle.randn(image.shape) for _ in range(2))
    online = F.normalize(predictor(student(first)), axis=-1)
    with paddle.no_grad():
        wanted = F.normalize(teacher(second), axis=-1)
    loss = 2 - 2 * (online * wanted).sum(-1).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    with paddle.no_grad():
        for old, new in zip(teacher.parameters(), student.parameters(), strict=True):
            old.set_value(0.99 * old + 0.01 * new)
