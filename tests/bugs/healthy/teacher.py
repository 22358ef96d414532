"""A student learns from a teacher, its own moving average, which no optimizer holds."""

import copy

import paddle
from paddle import nn

paddle.seed(0)
student = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
teacher = copy.deepcopy(student)
optimizer = paddle.optimizer.Adam(parameters=student.parameters())
for step in range(3):
    x = paddle.randn([5, 4])
    with paddle.no_grad():
        target = nn.functional.softmax(teacher(x))
    loss = -(target * nn.functional.log_softmax(student(x))).sum(-1).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    with paddle.no_grad():
        for slow, fast in zip(teacher.parameters(), student.parameters(), strict=True):
            slow.set_value(slow * 0.9 + fast * 0.1)
    print(step, float(loss), loss.numpy())
