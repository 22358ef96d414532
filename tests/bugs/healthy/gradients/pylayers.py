"""PyLayers with their own backward: rounding, a clamp, a reversed gradient."""

import paddle
from paddle import nn
from paddle.autograd import PyLayer
from paddle.nn import functional as F


class Round(PyLayer):
    @staticmethod
    def forward(ctx, x):
        return paddle.round(x)

    @staticmethod
    def backward(ctx, grad):
        return grad


class Swish(PyLayer):
    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x)
        ctx.beta = beta
        return x * F.sigmoid(beta * x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensor()
        chance = F.sigmoid(ctx.beta * x)
        return grad * (chance + ctx.beta * x * chance * (1 - chance))


class Reverse(PyLayer):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return -0.1 * grad


paddle.seed(17)
body, classes, domains = nn.Linear(16, 64), nn.Linear(64, 4), nn.Linear(64, 2)
layers = nn.LayerList([body, classes, domains])
optimizer = paddle.optimizer.SGD(0.01, parameters=layers.parameters())
for _ in range(3):
    x = paddle.randn([32, 16])
    hidden = Swish.apply(body(Round.apply(x * 8) / 8), 1.5)
    loss = F.cross_entropy(classes(hidden), paddle.randint(0, 4, [32]))
    loss = loss + F.cross_entropy(domains(Reverse.apply(hidden)), paddle.randint(0, 2, [32]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
