"""A gradient penalty without effect: its gradients have no graph."""

import paddle
from paddle import nn

paddle.seed(0)
critic = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = paddle.optimizer.Adam(parameters=critic.parameters())


def penalty(points):
    points.stop_gradient = False
    (slopes,) = paddle.grad(critic(points).sum(), [points])  # BUG: gradient-cut
    return ((slopes.norm(axis=1) - 1) ** 2).mean()


for _ in range(2):
    penalty(paddle.randn([4, 3])).backward()
    optimizer.step()
    optimizer.clear_grad()
