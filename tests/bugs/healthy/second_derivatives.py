"""A gradient penalty, a second derivative, and inner steps written by hand."""

import paddle

paddle.seed(4)
net = paddle.nn.Sequential(paddle.nn.Linear(2, 8), paddle.nn.Tanh(), paddle.nn.Linear(8, 1))
optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())
for _ in range(3):
    x = paddle.randn([5, 2])
    x.stop_gradient = False
    value = net(x)
    slope = value
    for _ in range(2):
        (slope,) = paddle.grad(slope.sum(), x, create_graph=True)
    (value.square().mean() + slope.square().mean()).backward()
    optimizer.step()
    optimizer.clear_grad()

weight = paddle.create_parameter([2, 1], "float32")
outer = paddle.optimizer.SGD(0.01, parameters=[weight])
for _ in range(3):
    fast = weight
    for _ in range(3):
        inner = paddle.matmul(paddle.randn([4, 2]), fast).square().mean()
        (gradient,) = paddle.grad(inner, fast, create_graph=True)
        fast = fast - 0.1 * gradient
    paddle.matmul(paddle.randn([4, 2]), fast).square().mean().backward()
    outer.step()
    outer.clear_grad()
