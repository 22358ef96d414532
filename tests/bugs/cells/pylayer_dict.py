"""A PyLayer gets its weights in a dict: they never learn."""

import paddle
from paddle.autograd import PyLayer


class Affine(PyLayer):
    @staticmethod
    def forward(ctx, x, weights):
        ctx.save_for_backward(weights["scale"])
        return x * weights["scale"] + weights["shift"]

    @staticmethod
    def backward(ctx, grad):
        (scale,) = ctx.saved_tensor()
        return grad * scale


paddle.seed(51)
weights = {name: paddle.create_parameter([4], "float32") for name in ("scale", "shift")}
x = paddle.randn([2, 4])
x.stop_gradient = False
out = Affine.apply(x, weights)  # BUG: pylayer-argument
out.sum().backward()
