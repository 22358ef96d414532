"""The target of kl_div is a log-probability."""
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(0)
teacher, student = nn.Linear(8, 5), nn.Linear(8, 5)
opt = paddle.optimizer.Adam(1e-3, parameters=student.parameters())
for step in range(4):
    x = paddle.randn([16, 8])
    with paddle.no_grad():
        target = F.log_softmax(teacher(x))
    loss = F.kl_div(F.log_softmax(student(x)), target, reduction="batchmean")  # WRONG
    #= loss = F.kl_div(F.log_softmax(student(x)), target.exp(), reduction="batchmean")
    loss.backward()
    opt.step()
    opt.clear_grad()
