"""Inner steps written by hand, and gradients passed to the optimizer by hand."""

import paddle

paddle.seed(0)
weight = paddle.create_parameter([3, 1], "float32")
other = paddle.create_parameter([1], "float32")
optimizer = paddle.optimizer.Adam(0.01, parameters=[weight, other])
for _ in range(2):
    x = paddle.randn([5, 3])
    (slope,) = paddle.grad((x @ weight - 1).square().sum(), [weight])
    fast = weight.detach() - 0.1 * slope
    fast.stop_gradient = False
    loss = (x @ fast - other).square().sum()
    weight.grad, other.grad = paddle.grad(loss, [fast, other])
    optimizer.step()
    optimizer.clear_grad()
