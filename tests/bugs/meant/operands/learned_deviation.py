"""Healthy: heteroscedastic regression with an auxiliary MSE, class weights, and SAC-like actor."""
import paddle
from paddle import nn
import paddle.nn.functional as F
mu = nn.Linear(4, 1); ls = nn.Linear(4, 1); cls = nn.Linear(4, 3)
opt = paddle.optimizer.Adam(1e-3, parameters=mu.parameters() + ls.parameters() + cls.parameters())
for i in range(3):
    x = paddle.randn([8, 4]); y = paddle.randn([8, 1]); k = paddle.randint(0, 3, [8])
    m, s = mu(x), ls(x)
    z = (y - m) * paddle.exp(-s)
    nll = (0.5 * z ** 2 + s).mean()
    ce = F.cross_entropy(cls(x), k, reduction="none")
    weight = (y - m).abs().squeeze(1).detach()
    loss = nll + 0.1 * F.mse_loss(m, y) + (ce * weight).mean()
    loss.backward(); opt.step(); opt.clear_grad()
