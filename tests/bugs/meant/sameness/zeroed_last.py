"""Weights are set to zero after the general initialisation."""

import paddle
from paddle import nn
import paddle.nn.functional as F


def init(m):
    if isinstance(m, nn.Linear):
        nn.initializer.XavierUniform()(m.weight)
        if m.bias is not None:
            nn.initializer.Constant(0.0)(m.bias)


class AdaBlock(nn.Layer):
    def __init__(s, d):
        super().__init__()
        s.l = nn.Linear(d, d)
        s.mod = nn.Linear(d, 2 * d)

    def forward(s, x, c):
        sh, ga = s.mod(F.silu(c)).chunk(2, -1)
        return x + ga * s.l(x + sh)


class DiT(nn.Layer):
    def __init__(s):
        super().__init__()
        s.b = nn.LayerList([AdaBlock(8) for _ in range(2)])
        s.o = nn.Linear(8, 8)
        s.apply(init)
        for b in s.b:
            nn.initializer.Constant(0.0)(b.mod.weight)
            nn.initializer.Constant(0.0)(b.mod.bias)
        nn.initializer.Constant(0.0)(s.o.weight)

    def forward(s, x, c):
        for b in s.b:
            x = b(x, c)
        return s.o(x)


net = DiT()
opt = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())
for _ in range(4):
    F.mse_loss(net(paddle.randn([8, 8]), paddle.randn([8, 8])), paddle.randn([8, 8])).backward()
    opt.step()
    opt.clear_grad()
