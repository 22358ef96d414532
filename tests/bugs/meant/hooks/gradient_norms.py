"""Gradient hooks that measure norms, and a copy of the net as its teacher."""

import copy, paddle
from paddle import nn
import paddle.nn.functional as F

net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
norms = {}
for n, p in net.named_parameters():
    p.register_hook(lambda g, n=n: norms.__setitem__(n, float(g.norm())))
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
teacher = copy.deepcopy(net)
for i in range(3):
    x = paddle.randn([8, 6])
    with paddle.no_grad():
        t = F.softmax(teacher(x), -1)
    F.kl_div(F.log_softmax(net(x), -1), t).backward()
    opt.step()
    opt.clear_grad()
