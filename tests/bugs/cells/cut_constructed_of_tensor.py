"""A tensor made from a tensor shares its memory, but not its graph."""

import paddle
from paddle import nn

paddle.seed(0)
encoder, head = nn.Linear(4, 8), nn.Linear(8, 1)
optimizer = paddle.optimizer.Adam(parameters=[*encoder.parameters(), *head.parameters()])
for _ in range(2):
    features = paddle.Tensor(encoder(paddle.randn([6, 4])))  # BUG: gradient-cut
    loss = head(features).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
