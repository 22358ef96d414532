"""Monte Carlo dropout by an argument of the net."""

import paddle
from paddle import nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(s, mc=True):
        super().__init__()
        s.a, s.b, s.mc = nn.Linear(6, 32), nn.Linear(32, 3), mc

    def forward(s, x):
        return s.b(F.dropout(F.relu(s.a(x)), 0.3, training=s.training or s.mc))


net = Net()
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for _ in range(4):
    F.cross_entropy(net(paddle.randn([16, 6])), paddle.randint(0, 3, [16])).backward()
    opt.step()
    opt.clear_grad()
net.eval()
x = paddle.randn([5, 6])
with paddle.no_grad():
    out = paddle.stack([net(x) for _ in range(10)]).std(0)
