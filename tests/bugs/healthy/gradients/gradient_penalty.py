"""A critic with a gradient penalty, and a generator that is trained every other step."""

import paddle
from paddle import nn

paddle.seed(16)
generator = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 16))
critic = nn.Sequential(nn.Linear(16, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
g_optimizer = paddle.optimizer.Adam(1e-4, parameters=generator.parameters())
c_optimizer = paddle.optimizer.Adam(1e-4, parameters=critic.parameters())


def penalty(real, fake):
    mix = paddle.rand([real.shape[0], 1])
    between = mix * real + (1 - mix) * fake
    between.stop_gradient = False
    score = critic(between)
    (slope,) = paddle.grad(score, between, paddle.ones_like(score), create_graph=True)
    return ((slope.norm(axis=1) - 1) ** 2).mean()


for step in range(4):
    real = paddle.randn([32, 16])
    with paddle.no_grad():
        fake = generator(paddle.randn([32, 8]))
    loss = critic(fake).mean() - critic(real).mean() + 10 * penalty(real, fake)
    c_optimizer.clear_grad()
    loss.backward()
    c_optimizer.step()
    if step % 2:
        for parameter in critic.parameters():
            parameter.stop_gradient = True
        g_loss = -critic(generator(paddle.randn([32, 8]))).mean()
        g_optimizer.clear_grad()
        g_loss.backward()
        g_optimizer.step()
        for parameter in critic.parameters():
            parameter.stop_gradient = False
