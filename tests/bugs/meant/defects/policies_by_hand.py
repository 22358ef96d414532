"""Policies that draw and weigh from one softmax; a Categorical that is only sampled, one that only weighs."""
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(5)
np.random.seed(5)
from paddle.distribution import Categorical
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3)); old = nn.Linear(4, 3)
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(3):
    s = paddle.randn([8, 4])
    p = F.softmax(net(s), -1)
    a = paddle.multinomial(p, 1)
    logp = paddle.log(paddle.take_along_axis(p, a, -1)).squeeze(1)
    reward = (a.squeeze(1) == 1).astype("float32")
    loss = -(logp * (reward - reward.mean())).mean()
    with paddle.no_grad():
        b = Categorical(old(s)).sample([1])[0]
    weighed = Categorical(F.softmax(net(s), -1)).log_prob(b.unsqueeze(1)).squeeze(1)
    every = Categorical(F.softmax(net(s), -1)).log_prob(paddle.arange(3))
    loss = loss - 0.1 * weighed.mean() - 0.01 * every.mean()
    loss.backward(); opt.step(); opt.clear_grad()
