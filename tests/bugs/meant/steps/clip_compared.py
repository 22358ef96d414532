"""Two nets are trained side by side, with and without a clip."""

import copy, paddle
from paddle import nn
import paddle.nn.functional as F

a = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
b = copy.deepcopy(a)
oa = paddle.optimizer.SGD(0.1, parameters=a.parameters(), grad_clip=nn.ClipGradByGlobalNorm(0.1))
ob = paddle.optimizer.SGD(0.1, parameters=b.parameters())
for i in range(5):
    x, y = paddle.randn([8, 6]), paddle.randint(0, 3, [8])
    for net, o in ((a, oa), (b, ob)):
        F.cross_entropy(net(x), y).backward()
        o.step()
        o.clear_grad()
