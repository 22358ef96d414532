"""backward also returns None for a number, as in PyTorch; Paddle counts only tensors."""

import paddle
from paddle.autograd import PyLayer


class Reverse(PyLayer):
    @staticmethod
    def forward(ctx, features, strength):
        ctx.strength = strength
        return features * 1.0

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


class DomainHead(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.score = paddle.nn.Linear(6, 1)

    def forward(self, features):
        return self.score(Reverse.apply(features, 0.5))  # BUG: pylayer-argument


paddle.seed(52)
encoder, head = paddle.nn.Linear(3, 6), DomainHead()
head(encoder(paddle.randn([4, 3]))).mean().backward()
