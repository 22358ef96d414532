"""PyLayers with lists, numbers, constants, several results, and recomputation."""

import paddle
from paddle.autograd import PyLayer
from paddle.distributed.fleet.utils import recompute


class Combine(PyLayer):
    @staticmethod
    def forward(ctx, tensors, factor, mask, options):
        ctx.factor = factor * options["scale"]
        return tensors[0] * ctx.factor + tensors[1], mask * 2

    @staticmethod
    def backward(ctx, grad, _):
        return [grad * ctx.factor, grad], None


class Scale(PyLayer):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x * weight

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensor()
        return grad * weight, (grad * x).sum(axis=0)


paddle.seed(5)
net = paddle.nn.Linear(4, 4)
weight = paddle.create_parameter([4], "float32")
optimizer = paddle.optimizer.SGD(0.01, parameters=[*net.parameters(), weight])
for _ in range(3):
    hidden = recompute(net, Scale.apply(net(paddle.randn([2, 4])), weight))
    out, _ = Combine.apply([hidden, hidden + 1], 0.5, paddle.ones([2, 4]), {"scale": 2.0})
    out.square().mean().backward()
    optimizer.step()
    optimizer.clear_grad()
with paddle.no_grad():
    Combine.apply([weight, weight], 0.5, paddle.ones([4]), {"scale": weight})
