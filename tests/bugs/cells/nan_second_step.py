"""The first step is finite, but its large learning rate makes the second step overflow."""

import paddle


def energy(weight, data):
    hidden = paddle.matmul(data, weight)
    return paddle.exp(hidden).mean()  # BUG: nan-origin


paddle.seed(2)
weight = paddle.create_parameter([4, 4], "float32")
optimizer = paddle.optimizer.SGD(learning_rate=1e4, parameters=[weight])
data = paddle.randn([8, 4])
for step in range(3):
    loss = energy(weight, data)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
