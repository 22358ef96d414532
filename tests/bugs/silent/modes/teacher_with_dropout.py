"""Distillation: the teacher's dropout is active while it gives targets."""
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(14)
teacher = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, 6))
student = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 6))
#+ teacher.eval()
opt = paddle.optimizer.Adam(1e-3, parameters=student.parameters())
T = 3.0
for step in range(4):
    x, y = paddle.randn([16, 12]), paddle.randint(0, 6, [16])
    with paddle.no_grad():
        #- WRONG
        target = F.softmax(teacher(x) / T)
    logits = student(x)
    kd = F.kl_div(F.log_softmax(logits / T), target, reduction="batchmean") * T * T
    loss = F.cross_entropy(logits, y) + kd
    loss.backward()
    opt.step()
    opt.clear_grad()
