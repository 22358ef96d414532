"""Per-sample gradients, clipped and summed by hand with noise; sign descent by hand."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(52)
net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 3))
parameters = list(net.parameters())
for _ in range(2):
    x, y = paddle.randn([8, 16]), paddle.randint(0, 3, [8])
    sums = [paddle.zeros_like(parameter) for parameter in parameters]
    for row in range(8):
        loss = F.cross_entropy(net(x[row : row + 1]), y[row : row + 1])
        gradients = paddle.grad(loss, parameters)
        norm = paddle.sqrt(sum((gradient**2).sum() for gradient in gradients))
        share = paddle.clip(1.0 / (norm + 1e-6), max=1.0)
        sums = [total + gradient * share for total, gradient in zip(sums, gradients, strict=True)]
    with paddle.no_grad():
        for parameter, total in zip(parameters, sums, strict=True):
            parameter.subtract_(0.1 * (total + 0.01 * paddle.randn(total.shape)) / 8)

for _ in range(2):
    F.cross_entropy(net(paddle.randn([32, 16])), paddle.randint(0, 3, [32])).backward()
    with paddle.no_grad():
        for parameter in parameters:
            parameter.set_value(parameter - 0.01 * parameter.grad.sign())
    net.clear_gradients()
