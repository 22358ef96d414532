"""Query, key and value are passed in a dataclass, so they get no gradients."""

import dataclasses

import paddle
from paddle.autograd import PyLayer


@dataclasses.dataclass
class Projections:
    query: paddle.Tensor
    key: paddle.Tensor


class Scores(PyLayer):
    @staticmethod
    def forward(ctx, projections):
        return paddle.matmul(projections.query, projections.key, transpose_y=True)

    @staticmethod
    def backward(ctx, grad):
        return None


paddle.seed(54)
query = paddle.randn([4, 8])
key = paddle.randn([4, 8])
for tensor in (query, key):
    tensor.stop_gradient = False
scores = Scores.apply(Projections(query, key))  # BUG: pylayer-argument
