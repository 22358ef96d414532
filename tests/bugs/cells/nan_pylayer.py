"""A PyLayer's backward divides by its input, and its input is 0."""

import paddle
from paddle.autograd import PyLayer


class SignedRoot(PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return paddle.sign(x) * paddle.sqrt(paddle.abs(x))

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensor()
        root = paddle.sqrt(paddle.abs(x))
        return grad * 0.5 * x / (root * x)  # BUG: nan-origin


x = paddle.to_tensor([0.0, 4.0, -9.0])
x.stop_gradient = False
y = SignedRoot.apply(x)
y.sum().backward()
