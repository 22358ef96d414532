"""forward returns a dict, which apply refuses."""

import paddle
from paddle.autograd import PyLayer


class Moments(PyLayer):
    @staticmethod
    def forward(ctx, x):
        return {"mean": x.mean(), "second": x.square().mean()}

    @staticmethod
    def backward(ctx, mean, second):
        return mean + second


paddle.seed(56)
weights = paddle.create_parameter([6], "float32")
moments = Moments.apply(weights * 2.0)  # BUG: pylayer-argument
