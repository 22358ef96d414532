"""Accuracy after each epoch, computed with gradients on."""

import paddle
import paddle.nn.functional as F

paddle.seed(0)
weight = paddle.create_parameter([6, 3], "float32")
bias = paddle.create_parameter([3], "float32", is_bias=True)
optimizer = paddle.optimizer.SGD(0.1, parameters=[weight, bias])
x, y = paddle.randn([10, 6]), paddle.randint(0, 3, [10])
for _ in range(2):
    loss = F.cross_entropy(paddle.matmul(x, weight) + bias, y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    scores = F.linear(x, weight, bias)  # BUG: unused-graph
    accuracy = (scores.argmax(1) == y).astype("float32").mean()
    print(accuracy.item())
