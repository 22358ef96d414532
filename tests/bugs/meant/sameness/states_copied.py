"""States are copied, and one net follows another."""

import copy, paddle
from paddle import nn
import paddle.nn.functional as F

q = nn.Linear(4, 2)
t = nn.Linear(4, 2)
t.set_state_dict(q.state_dict())
opt = paddle.optimizer.Adam(1e-2, parameters=q.parameters())
hist = []
for e in range(4):
    for _ in range(2):
        F.mse_loss(q(paddle.randn([8, 4])), paddle.randn([8, 2])).backward()
        opt.step()
        opt.clear_grad()
    t.set_state_dict(q.state_dict())
    hist.append({k: v.numpy().copy() for k, v in q.state_dict().items()})
best = {k: v.detach().clone() for k, v in q.state_dict().items()}
for _ in range(2):
    F.mse_loss(q(paddle.randn([8, 4])), paddle.randn([8, 2])).backward()
    opt.step()
    opt.clear_grad()
q.set_state_dict(best)
q.set_state_dict(hist[-1])
q.set_state_dict({k: paddle.to_tensor(v) for k, v in hist[0].items()})
