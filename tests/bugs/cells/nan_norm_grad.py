"""Two towers give equal outputs for one pair: the distance is 0, and its gradient is NaN."""

import paddle
from paddle import nn


class Towers(nn.Layer):
    def __init__(self):
        super().__init__()
        self.tower = nn.Linear(4, 3)

    def distance(self, left, right):
        gap = self.tower(left) - self.tower(right)
        squared = gap.square().sum(axis=-1)
        return squared**0.5  # BUG: nan-origin

    def forward(self, left, right):
        return self.distance(left, right)


paddle.seed(11)
model = Towers()
left = paddle.randn([5, 4])
right = left.clone()
right[1:] = paddle.randn([4, 4])
loss = model(left, right).mean()
assert bool(paddle.isfinite(loss))
loss.backward()
print(model.tower.weight.grad)
