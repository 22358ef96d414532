"""The first tensor of a list is a constant, so Paddle tracks no tensor of the list."""

import paddle
from paddle.autograd import PyLayer


class WeightedSum(PyLayer):
    @staticmethod
    def forward(ctx, tensors):
        return sum(tensors[1:], tensors[0])

    @staticmethod
    def backward(ctx, grad):
        return None


paddle.seed(55)
parts = [paddle.randn([3]) for _ in range(3)]
parts[1].stop_gradient = False
parts[2].stop_gradient = False
total = WeightedSum.apply(parts)  # BUG: pylayer-argument
