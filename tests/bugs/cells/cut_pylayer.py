"""A PyLayer's backward returns no gradient for one of its two inputs."""

import paddle
from paddle import nn
from paddle.autograd import PyLayer


class Blend(PyLayer):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensor()
        return grad * b, None


paddle.seed(0)
left, right = nn.Linear(3, 3), nn.Linear(3, 3)
optimizer = paddle.optimizer.SGD(0.1, parameters=[*left.parameters(), *right.parameters()])
for _ in range(2):
    x = paddle.randn([2, 3])
    out = Blend.apply(left(x), right(x))  # BUG: gradient-cut
    out.sum().backward()
    optimizer.step()
    optimizer.clear_grad()
