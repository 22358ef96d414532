"""A gradient penalty over an op that has no second derivative."""

import paddle
from paddle.nn import functional as F


class Critic(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.score = paddle.nn.Conv2D(1, 1, 3)

    def forward(self, image):
        larger = F.interpolate(image, scale_factor=2)  # BUG: backward-failed
        return self.score(larger).mean()


paddle.seed(10)
critic = Critic()
image = paddle.randn([1, 1, 4, 4])
image.stop_gradient = False
(slope,) = paddle.grad(critic(image), image, create_graph=True)
(slope.square().sum() - 1).backward()
