"""A PyLayer uses a weight that is not an argument: Paddle tracks only arguments."""

import paddle
from paddle import nn
from paddle.autograd import PyLayer


class Product(PyLayer):
    @staticmethod
    def forward(ctx, x, layer):
        ctx.save_for_backward(x)
        return x * layer.weight

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Scale(nn.Layer):
    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([3])

    def forward(self, x):
        return Product.apply(x, self)  # BUG: gradient-cut


paddle.seed(1)
net, head = Scale(), nn.Linear(3, 1)
optimizer = paddle.optimizer.SGD(parameters=[*net.parameters(), *head.parameters()])
head(net(paddle.randn([2, 3]))).mean().backward()
optimizer.step()
