"""A wrapper trains, and the net in it is scored and attacked."""

import paddle
from paddle import nn
import paddle.nn.functional as F

net = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1D(8), nn.Linear(8, 3))
dp = paddle.DataParallel(net)
opt = paddle.optimizer.Adam(1e-3, parameters=dp.parameters())
for e in range(2):
    dp.train()
    for i in range(4):
        loss = F.cross_entropy(dp(paddle.randn([8, 6])), paddle.randint(0, 3, [8])) / 2
        if i % 2 == 0:
            with dp.no_sync():
                loss.backward()
        else:
            loss.backward()
            opt.step()
            opt.clear_grad()
    net.eval()
    with paddle.no_grad():
        (net(paddle.randn([8, 6])).argmax(1) == paddle.randint(0, 3, [8])).astype(
            "float32"
        ).mean().item()
    adv = paddle.randn([8, 6])
    adv.stop_gradient = False
    g = paddle.grad(net(adv).sum(), adv)[0]
