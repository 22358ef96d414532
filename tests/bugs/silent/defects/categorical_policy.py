"""A policy samples from Categorical and trains its log-probabilities."""
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
for step in range(3):
    dist = Categorical(F.log_softmax(net(paddle.randn([8, 4])), -1))  # WRONG
    #= dist = Categorical(F.softmax(net(paddle.randn([8, 4])), -1))
    a = dist.sample([1]).reshape([-1, 1])
    #= a = paddle.argmax(dist.logits, -1, keepdim=True)
    reward = (a == 1).astype("float32")
    loss = -(dist.log_prob(a) * (reward - 0.3)).mean()
    loss.backward(); opt.step(); opt.clear_grad()
