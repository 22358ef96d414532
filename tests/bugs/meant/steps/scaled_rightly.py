"""Losses with a factor, clipped; a scale by hand that is divided out first; sums over accumulated batches."""
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(5)
np.random.seed(5)
net = nn.Linear(6, 3); other = nn.Linear(6, 3)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters()); opt2 = paddle.optimizer.SGD(0.1, parameters=other.parameters())
ema = [p.detach().clone() for p in other.parameters()]
for step in range(3):
    x = paddle.randn([8, 6]); y = paddle.randint(0, 3, [8])
    (F.cross_entropy(net(x), y) * 256.0).backward()
    with paddle.no_grad():
        for p in net.parameters():
            p.grad.scale_(1 / 256.0)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step(); opt.clear_grad()
    (10.0 * F.cross_entropy(other(x), y)).backward()
    nn.utils.clip_grad_norm_(other.parameters(), 1.0)
    watch = float(x.mean() / 10.0)
    opt2.step(); opt2.clear_grad()
    with paddle.no_grad():
        for e, p in zip(ema, other.parameters()):
            e.set_value(e * 0.9 + p * 0.1)
