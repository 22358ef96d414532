import paddle
import paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
q, k, v, out = (nn.Linear(8, 8) for _ in range(4))
slots = paddle.create_parameter([4, 8], "float32")
opt = paddle.optimizer.Adam(1e-3, parameters=[slots, *[p for l in (q, k, v, out) for p in l.parameters()]])
for step in range(3):
    x = paddle.randn([2, 10, 8])
    scores = paddle.matmul(k(x), q(slots.unsqueeze(0).expand([2, 4, 8])), transpose_y=True)
    weights = F.softmax(scores, axis=-1)
    weights = weights / weights.sum(axis=1, keepdim=True)
    filled = paddle.matmul(weights, v(x), transpose_x=True)
    (out(filled).mean(axis=1) - x.mean(axis=1)).square().mean().backward()
    opt.step()
    opt.clear_grad()
