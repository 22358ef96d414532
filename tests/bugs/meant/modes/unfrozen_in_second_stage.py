"""A frozen part in eval mode is trained in a second stage."""

import paddle
from paddle import nn
import paddle.nn.functional as F

backbone = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1D(8), nn.ReLU())
head = nn.Linear(8, 3)
net = nn.Sequential(backbone, head)
backbone.eval()
for p in backbone.parameters():
    p.stop_gradient = True
opt = paddle.optimizer.Adam(1e-3, parameters=head.parameters())
for e in range(2):
    F.cross_entropy(net(paddle.randn([8, 6])), paddle.randint(0, 3, [8])).backward()
    opt.step()
    opt.clear_grad()
net.train()
for p in backbone.parameters():
    p.stop_gradient = False
opt = paddle.optimizer.Adam(1e-4, parameters=net.parameters())
for e in range(3):
    F.cross_entropy(net(paddle.randn([8, 6])), paddle.randint(0, 3, [8])).backward()
    opt.step()
    opt.clear_grad()
