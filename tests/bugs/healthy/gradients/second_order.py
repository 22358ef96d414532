"""Curvature: products with the Hessian, a Jacobian, the largest eigenvalue by iteration."""

import paddle
from paddle import nn

paddle.seed(53)
net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 3))
parameters = list(net.parameters())
x, y = paddle.randn([32, 8]), paddle.randn([32, 3])
vector = [paddle.randn(parameter.shape) for parameter in parameters]
values = []
for _ in range(4):
    loss = (net(x) - y).square().sum() / 32
    slopes = paddle.grad(loss, parameters, create_graph=True)
    along = sum((slope * part).sum() for slope, part in zip(slopes, vector, strict=True))
    product = paddle.grad(along, parameters)
    norm = paddle.sqrt(sum((part**2).sum() for part in product))
    vector = [part / norm for part in product]
    values.append(norm.item())
point = paddle.randn([8])
point.stop_gradient = False
jacobian = paddle.autograd.jacobian(net(point), point)
print(values, jacobian[:].shape)
