"""Gradient accumulation: gradients are cleared for each micro-batch, so only the last counts."""
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(10)
net = nn.Sequential(nn.Conv2D(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(8, 4))
opt = paddle.optimizer.SGD(0.05, parameters=net.parameters())
accum = 4
for i in range(12):
    x, y = paddle.randn([4, 3, 12, 12]), paddle.randint(0, 4, [4])
    opt.clear_grad()  # WRONG
    loss = F.cross_entropy(net(x), y) / accum
    loss.backward()
    if (i + 1) % accum == 0:
        opt.step()
        #+ opt.clear_grad()
