import copy
import paddle
from paddle import nn
paddle.seed(0)
q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
target = copy.deepcopy(q)
opt = paddle.optimizer.Adam(1e-3, parameters=q.parameters())
for step in range(6):
    s, s2, r = paddle.randn([32, 4]), paddle.randn([32, 4]), paddle.randn([32])
    a = paddle.randint(0, 2, [32])
    value = paddle.take_along_axis(q(s), a.unsqueeze(1), axis=1).squeeze(1)
    with paddle.no_grad():
        goal = r + 0.99 * target(s2).max(axis=1)
    nn.functional.smooth_l1_loss(value, goal).backward()
    opt.step()
    opt.clear_grad()
    if step % 2 == 0:
        target.set_state_dict(q.state_dict())
