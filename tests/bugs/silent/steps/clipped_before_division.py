"""The loss is multiplied by hand, and gradients are clipped before the division."""
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(5)
np.random.seed(5)
net = nn.Linear(6, 3)
opt = paddle.optimizer.Momentum(0.1, parameters=net.parameters())
K = 512.0
for step in range(3):
    loss = F.cross_entropy(net(paddle.randn([8, 6])), paddle.randint(0, 3, [8]))
    scaled = loss * K
    scaled.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # WRONG
    with paddle.no_grad():
        for p in net.parameters():
            p.grad.set_value(p.grad / K)
    #+ nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step(); opt.clear_grad()
