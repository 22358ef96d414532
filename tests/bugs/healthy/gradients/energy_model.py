"""An energy model: Langevin steps move samples, which a pool keeps for later steps."""

import paddle
from paddle import nn

paddle.seed(58)
energy = nn.Sequential(nn.Linear(16, 64), nn.Silu(), nn.Linear(64, 1))
optimizer = paddle.optimizer.Adam(1e-3, parameters=energy.parameters())
pool = paddle.randn([128, 16])
for _ in range(3):
    rows = paddle.randint(0, 128, [32])
    sample = pool[rows]
    for parameter in energy.parameters():
        parameter.stop_gradient = True
    for _ in range(4):
        sample = sample.detach()
        sample.stop_gradient = False
        energy(sample).sum().backward()
        sample = sample - 0.1 * sample.grad + 0.02 * paddle.randn(sample.shape)
    for parameter in energy.parameters():
        parameter.stop_gradient = False
    sample = sample.detach()
    pool = paddle.scatter(pool, rows, sample)
    real = paddle.randn([32, 16])
    e_real, e_fake = energy(real), energy(sample)
    loss = (e_real - e_fake).mean() + 0.1 * (e_real**2 + e_fake**2).mean()
    optimizer.clear_grad()
    loss.backward()
    optimizer.step()
