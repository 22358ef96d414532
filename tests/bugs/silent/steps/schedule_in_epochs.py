"""The schedule counts epochs and is stepped by batch."""
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(5)
np.random.seed(5)
net = nn.Linear(5, 1)
rate = paddle.optimizer.lr.PolynomialDecay(0.1, decay_steps=2, end_lr=0.0)  # OR
#= rate = paddle.optimizer.lr.PolynomialDecay(0.1, decay_steps=4, end_lr=0.0)
opt = paddle.optimizer.SGD(rate, parameters=net.parameters())
for epoch in range(2):
    for batch in range(2):
        loss = net(paddle.randn([4, 5])).square().mean()
        loss.backward(); opt.step(); opt.clear_grad()
        rate.step()  # WRONG
        #= rate.step()
