"""Both optimizers of a GAN have the parameters of the generator."""
import math

import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(13)


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(a, b), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers[:-1])


def real(n):
    angle = paddle.rand([n, 1]) * 2 * math.pi
    return paddle.concat([angle.cos(), angle.sin()], axis=1) + 0.05 * paddle.randn([n, 2])


gen, disc = mlp(4, 32, 2), mlp(2, 32, 1)
opt_g = paddle.optimizer.Adam(1e-3, beta1=0.5, parameters=gen.parameters())
opt_d = paddle.optimizer.Adam(1e-3, beta1=0.5, parameters=gen.parameters())  # WRONG
#= opt_d = paddle.optimizer.Adam(1e-3, beta1=0.5, parameters=disc.parameters())

for it in range(8):
    fake = gen(paddle.randn([32, 4]))
    d_real, d_fake = disc(real(32)), disc(fake.detach())
    loss_d = F.softplus(-d_real).mean() + F.softplus(d_fake).mean()
    opt_d.clear_grad()
    loss_d.backward()
    opt_d.step()

    loss_g = F.softplus(-disc(fake)).mean()
    opt_g.clear_grad()
    loss_g.backward()
    opt_g.step()
    print(f"{it}: D {float(loss_d):.3f} G {float(loss_g):.3f}")
