"""Schedules that end at zero with the last step, restarts, a warm-up from zero by epoch."""
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(5)
np.random.seed(5)
lr = paddle.optimizer.lr
for rate in (lr.PolynomialDecay(0.1, 6, end_lr=0.0), lr.CosineAnnealingDecay(0.1, 5), lr.LinearWarmup(0.1, 2, 0.0, 0.1),
             lr.OneCycleLR(0.1, 6), lr.CyclicLR(0.0, 0.1, 2)):
    net = nn.Linear(5, 1)
    opt = paddle.optimizer.SGD(rate, parameters=net.parameters())
    for batch in range(6):
        loss = net(paddle.randn([4, 5])).square().mean()
        loss.backward(); opt.step(); opt.clear_grad()
        rate.step()
