"""A penalty hides a cut: its `paddle.grad` runs through the features, but only for the points."""

import paddle
from paddle import nn

paddle.seed(0)
features, head = nn.Sequential(nn.Linear(3, 8), nn.Tanh()), nn.Linear(8, 1)
optimizer = paddle.optimizer.Adam(parameters=[*features.parameters(), *head.parameters()])
for _ in range(2):
    points = paddle.randn([4, 3])
    points.stop_gradient = False
    (slopes,) = paddle.grad(head(features(points)).sum(), [points])
    known = features(points).detach()  # BUG: gradient-cut
    loss = (head(known) - 1).square().mean() + slopes.square().mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
