"""EMA by clones, by deepcopy, in a buffer, by lerp; snapshots that are restored."""
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(5)
np.random.seed(5)
import copy
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)); twin = copy.deepcopy(net)
shadow = {k: p.detach().clone() for k, p in net.named_parameters()}
arrays = {k: p.numpy().copy() for k, p in net.named_parameters()}
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(3):
    loss = net(paddle.randn([8, 4])).square().mean()
    loss.backward(); opt.step(); opt.clear_grad()
    with paddle.no_grad():
        for (k, p), t in zip(net.named_parameters(), twin.parameters()):
            shadow[k].set_value(0.9 * shadow[k] + 0.1 * p)
            t.set_value(t * 0.9 + p.detach() * 0.1)
            arrays[k] = 0.9 * arrays[k] + 0.1 * p.numpy()
        for p in net.parameters():
            p.set_value(p * 0.999 + 0.001 * paddle.randn(p.shape))
