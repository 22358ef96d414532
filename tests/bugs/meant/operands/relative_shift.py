import paddle
import paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
q, k, r, head = (nn.Linear(8, 8) for _ in range(4))
opt = paddle.optimizer.Adam(1e-3, parameters=[p for l in (q, k, r, head) for p in l.parameters()])
for step in range(3):
    x, pos = paddle.randn([2, 6, 8]), paddle.randn([6, 8])
    rel = paddle.matmul(q(x), r(pos), transpose_y=True)
    rel = F.pad(rel.unsqueeze(1), [1, 0, 0, 0]).squeeze(1).reshape([2, 7, 6])[:, 1:].reshape([2, 6, 6])
    scores = paddle.matmul(q(x), k(x), transpose_y=True) + rel
    mask = paddle.triu(paddle.full([6, 6], -1e9), 1)
    out = F.softmax((scores + mask) / 8**0.5) @ x
    (head(out) - x).square().mean().backward()
    opt.step()
    opt.clear_grad()
