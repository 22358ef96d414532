"""Weights with a spectral norm, made and used in one cell; their estimates are not trained."""

import paddle
from paddle import nn
from paddle.nn import functional as F
from paddle.nn.utils import spectral_norm, weight_norm

paddle.seed(19)
critic = nn.Sequential(
    spectral_norm(nn.Linear(16, 32)), nn.LeakyReLU(0.2), spectral_norm(nn.Linear(32, 1))
)
critic(paddle.randn([8, 16])).mean().backward()  # before there is an optimizer
critic.clear_gradients()

maker = nn.Sequential(weight_norm(nn.Linear(4, 32)), nn.ReLU(), weight_norm(nn.Linear(32, 16)))
critics = paddle.optimizer.Adam(4e-4, parameters=critic.parameters())
makers = paddle.optimizer.Adam(1e-4, parameters=maker.parameters())
for _ in range(3):
    real, noise = paddle.randn([8, 16]), paddle.randn([8, 4])
    loss = F.relu(1 - critic(real)).mean() + F.relu(1 + critic(maker(noise).detach())).mean()
    loss.backward()
    critics.step()
    critics.clear_grad()
    (-critic(maker(noise)).mean()).backward()
    makers.step()
    makers.clear_grad()
    critics.clear_grad()
