"""Healthy: two optimizers, actor first with retain_graph; GAE; REINFORCE with a learned baseline."""
import paddle
from paddle import nn
import paddle.nn.functional as F
pi = nn.Linear(4, 2); vf = nn.Linear(4, 1)
po = paddle.optimizer.Adam(1e-3, parameters=pi.parameters()); vo = paddle.optimizer.Adam(1e-3, parameters=vf.parameters())
for i in range(3):
    s = paddle.randn([10, 4]); r = paddle.randn([10]); a = paddle.randint(0, 2, [10])
    v = vf(s).squeeze(1)
    with paddle.no_grad():
        nxt = paddle.concat([v[1:], paddle.zeros([1])])
        delta = r + 0.99 * nxt - v
        adv, run = [], paddle.zeros([])
        for t in reversed(range(10)):
            run = delta[t] + 0.95 * run
            adv.append(run)
        adv = paddle.stack(adv[::-1]); target = adv + v
    lp = -F.cross_entropy(pi(s), a, reduction="none")
    (-(lp * (r - v.detach())).mean()).backward(); po.step(); po.clear_grad()
    F.mse_loss(v, target).backward(); vo.step(); vo.clear_grad()
