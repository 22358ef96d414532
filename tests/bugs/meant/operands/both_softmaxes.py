import paddle
import paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
a, b = nn.Linear(6, 8), nn.Linear(5, 8)
opt = paddle.optimizer.Adam(1e-3, parameters=a.parameters() + b.parameters())
for step in range(3):
    u, w = F.normalize(a(paddle.randn([8, 6]))), F.normalize(b(paddle.randn([8, 5])))
    scores = u @ w.t() / 0.07
    y = paddle.arange(8)
    loss = (F.cross_entropy(scores, y) + F.cross_entropy(scores.t(), y)) / 2
    loss.backward()
    opt.step()
    opt.clear_grad()
