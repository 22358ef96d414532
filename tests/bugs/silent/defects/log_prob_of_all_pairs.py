"""Recorded actions of shape [N] are looked up in N distributions."""
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(5)
np.random.seed(5)
from paddle.distribution import Categorical
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
states = paddle.randn([10, 4]); actions = paddle.randint(0, 3, [10]); gain = paddle.randn([10]); old = paddle.randn([10]) * 0.1 - 1.1
for step in range(3):
    dist = Categorical(F.softmax(net(states), -1))
    logp = dist.log_prob(actions)  # WRONG
    #= logp = dist.log_prob(actions.unsqueeze(1)).squeeze(1)
    ratio = paddle.exp(logp - old)
    loss = -(ratio * gain).mean()
    loss.backward(); opt.step(); opt.clear_grad()
