"""One expert is chosen in each step; in a short run, one is never chosen."""

import paddle
from paddle import nn


class Mixture(nn.Layer):
    def __init__(self, count):
        super().__init__()
        self.router = nn.Linear(4, count)
        self.experts = nn.LayerList([nn.Linear(4, 4) for _ in range(count)])

    def forward(self, x, chosen):
        weights = nn.functional.softmax(self.router(x))
        return weights[:, chosen : chosen + 1] * self.experts[chosen](x)


paddle.seed(54)
mixture, paths = Mixture(4), nn.LayerList([nn.Linear(4, 4) for _ in range(3)])
optimizer = paddle.optimizer.AdamW(parameters=[*mixture.parameters(), *paths.parameters()])
for chosen in (1, 3, 1, 2):
    x = mixture(paddle.randn([8, 4]), chosen)
    if chosen < 3:
        x = x + paths[chosen](x)
    x.square().mean().backward()
    optimizer.step()
    optimizer.clear_grad()
