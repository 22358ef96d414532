"""The gradient of a bias is not summed over the batch, so it has the shape of the batch."""

import paddle
from paddle.autograd import PyLayer


class AddBias(PyLayer):
    @staticmethod
    def forward(ctx, x, bias):
        return x + bias

    @staticmethod
    def backward(ctx, grad):
        return grad, grad


def layer(x, bias):
    shifted = AddBias.apply(x, bias)  # BUG: pylayer-argument
    return paddle.nn.functional.relu(shifted)


paddle.seed(53)
bias = paddle.create_parameter([3], "float32", is_bias=True)
x = paddle.randn([5, 3])
x.stop_gradient = False
layer(x, bias).sum().backward()
