"""Scores are masked for keys and for queries."""

import paddle
from paddle import nn
import paddle.nn.functional as F

e, q, k, v, o = (
    nn.Embedding(30, 8, padding_idx=0),
    nn.Linear(8, 8),
    nn.Linear(8, 8),
    nn.Linear(8, 8),
    nn.Linear(8, 3),
)
ps = sum([l.parameters() for l in (e, q, k, v, o)], [])
opt = paddle.optimizer.Adam(1e-3, parameters=ps)
for i in range(4):
    ids = paddle.randint(1, 30, [4, 6])
    ids[:, 4:] = 0
    m = ids != 0
    x = e(ids)
    s = q(x) @ k(x).transpose([0, 2, 1]) / 8**0.5
    s = s.masked_fill(~m.unsqueeze(1), -1e4)
    s = s.masked_fill(~m.unsqueeze(2), -1e4)
    h = F.softmax(s) @ v(x) * m.unsqueeze(-1).astype("float32")
    pooled = h.sum(1) / m.astype("float32").sum(1, keepdim=True)
    F.cross_entropy(o(pooled), paddle.randint(0, 3, [4])).backward()
    opt.step()
    opt.clear_grad()
