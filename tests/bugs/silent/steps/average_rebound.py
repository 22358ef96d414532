"""The average of teacher and student is only given the name of the teacher's parameter."""
import copy
import paddle
from paddle import nn

student = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8))
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.stop_gradient = True
opt = paddle.optimizer.AdamW(1e-3, parameters=student.parameters())
for step in range(3):
    x = paddle.randn([24, 16])
    a, b = x + 0.1 * paddle.randn(x.shape), x + 0.1 * paddle.randn(x.shape)
    with paddle.no_grad():
        goal = nn.functional.softmax(teacher(a), axis=-1)
    loss = nn.functional.cross_entropy(student(b), goal, soft_label=True)
    loss.backward()
    opt.step()
    opt.clear_grad()
    with paddle.no_grad():
        for t, s in zip(teacher.parameters(), student.parameters()):
            t = 0.99 * t + 0.01 * s  # WRONG
            #= t.set_value(0.99 * t + 0.01 * s)
