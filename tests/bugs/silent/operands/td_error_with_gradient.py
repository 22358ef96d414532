"""Gaussian policy with fixed deviation; a TD error with its gradient."""
import paddle
from paddle import nn
pi = nn.Linear(3, 2); vf = nn.Linear(3, 1)
opt = paddle.optimizer.Adam(1e-3, parameters=pi.parameters() + vf.parameters())
for step in range(3):
    s = paddle.randn([16, 3]); s2 = paddle.randn([16, 3]); r = paddle.randn([16, 1])
    dist = paddle.distribution.Normal(pi(s), paddle.ones([2]))
    a = dist.sample()
    with paddle.no_grad():
        target = r + 0.99 * vf(s2)
    td = target - vf(s)
    actor = -(dist.log_prob(a).sum(-1, keepdim=True) * td).mean()  # WRONG
    #= actor = -(dist.log_prob(a).sum(-1, keepdim=True) * td.detach()).mean()
    critic = td.pow(2).mean()
    (actor + critic).backward()
    opt.step(); opt.clear_grad()
