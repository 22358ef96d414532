"""A PyLayer's backward multiplies tensors whose shapes do not match."""

import paddle
from paddle.autograd import PyLayer


class Project(PyLayer):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return paddle.matmul(x, weight)

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensor()
        return paddle.matmul(grad, weight), paddle.matmul(x, grad, transpose_x=True)


def model(x, weights):
    for weight in weights:
        x = Project.apply(x, weight)  # BUG: backward-failed
        x = paddle.nn.functional.relu(x)
    return x


paddle.seed(9)
weights = [paddle.create_parameter(shape, "float32") for shape in ([4, 6], [6, 2])]
model(paddle.randn([3, 4]), weights).sum().backward()
