"""Distillation: soft labels must be probabilities; the teacher's logits are given."""
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(2)
teacher = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 5))
student = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 5))
teacher.eval()
opt = paddle.optimizer.Momentum(0.05, parameters=student.parameters())
T = 2.0
for step in range(4):
    x, y = paddle.randn([32, 10]), paddle.randint(0, 5, [32])
    with paddle.no_grad():
        soft = teacher(x) / T  # OR
    s = student(x)
    hard_loss = F.cross_entropy(s, y)
    soft_loss = F.cross_entropy(s / T, soft, soft_label=True)  # WRONG
    #= soft_loss = F.cross_entropy(s / T, F.softmax(soft), soft_label=True)
    (0.5 * hard_loss + 0.5 * T * T * soft_loss).backward()
    opt.step()
    opt.clear_grad()
