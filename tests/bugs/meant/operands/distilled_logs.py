import paddle
import paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
teacher, student = nn.Linear(6, 4), nn.Linear(6, 4)
teacher.eval()
opt = paddle.optimizer.Adam(1e-3, parameters=student.parameters())
for step in range(3):
    x, y = paddle.randn([8, 6]), paddle.randint(0, 4, [8])
    with paddle.no_grad():
        soft = F.log_softmax(teacher(x) / 2)
    out = student(x)
    loss = F.kl_div(F.log_softmax(out / 2), soft, reduction="batchmean", log_target=True) + F.cross_entropy(out, y)
    loss.backward()
    opt.step()
    opt.clear_grad()
    print(float((F.softmax(out).argmax(axis=1) == y).astype("float32").mean()))
