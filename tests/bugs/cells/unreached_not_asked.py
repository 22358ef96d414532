"""`paddle.grad` is called with a list of parameters without the encoder's."""

import paddle
from paddle import nn

paddle.seed(0)
encoder, head = nn.Linear(4, 8), nn.Linear(8, 1)
everything = [*encoder.parameters(), *head.parameters()]
optimizer = paddle.optimizer.SGD(0.1, parameters=everything)
for _ in range(2):
    loss = head(paddle.tanh(encoder(paddle.randn([6, 4])))).square().mean()
    asked = head.parameters()
    gradients = paddle.grad(loss, asked)  # BUG: unreached-parameter
    for parameter, gradient in zip(asked, gradients):
        parameter.grad = gradient
    optimizer.step()
    optimizer.clear_grad()
