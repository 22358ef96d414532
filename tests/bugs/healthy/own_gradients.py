"""A PyLayer, a recomputed block, and gradients written by hand."""

import paddle
from paddle import nn
from paddle.autograd import PyLayer
from paddle.distributed.fleet.utils import recompute


class Reverse(PyLayer):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return -grad


paddle.seed(0)
features, label, domain = nn.Linear(4, 6), nn.Linear(6, 2), nn.Linear(6, 2)
block = nn.Sequential(nn.Linear(6, 6), nn.GELU())
parameters = [one for layer in (features, label, domain, block) for one in layer.parameters()]
optimizer = paddle.optimizer.Adam(parameters=parameters)
for _ in range(2):
    h = recompute(block, features(paddle.randn([4, 4])))
    target = paddle.randint(0, 2, [4])
    loss = nn.functional.cross_entropy(label(h), target)
    loss = loss + nn.functional.cross_entropy(domain(Reverse.apply(h)), target)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
