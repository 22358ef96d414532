"""An inner loop starts from copies of the weights: the outer loss trains only the rate."""

import paddle

paddle.seed(0)
weight = paddle.create_parameter([3, 1], "float32")
rate = paddle.create_parameter([1], "float32")
optimizer = paddle.optimizer.Adam(0.01, parameters=[weight, rate])
for _ in range(2):
    x = paddle.randn([5, 3])
    (slope,) = paddle.grad((x @ weight - 1).square().sum(), [weight])
    fast = weight.detach() - rate * slope  # BUG: gradient-cut
    (x @ fast - 1).square().sum().backward()
    optimizer.step()
    optimizer.clear_grad()
