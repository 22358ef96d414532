"""The shadow weights share the memory of the weights."""
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(5)
np.random.seed(5)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
shadow = [p.detach() for p in net.parameters()]  # OR
#= shadow = [p.detach().clone() for p in net.parameters()]
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(3):
    loss = net(paddle.randn([8, 4])).square().mean()
    loss.backward(); opt.step(); opt.clear_grad()
    with paddle.no_grad():
        for s, p in zip(shadow, net.parameters()):
            s.set_value(s * 0.9 + p * 0.1)  # WRONG
            #= s.set_value(s * 0.9 + p * 0.1)
