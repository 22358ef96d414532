"""`no_grad_vars` excludes a gate from the gradients in the steps that train the rest."""

import paddle
from paddle import nn

paddle.seed(44)
gate, body, head = nn.Linear(4, 6), nn.Linear(4, 6), nn.Linear(6, 2)
everything = [*gate.parameters(), *body.parameters(), *head.parameters()]
optimizer = paddle.optimizer.SGD(0.05, parameters=everything)
trained = [*body.parameters(), *head.parameters()]

for _ in range(3):
    inputs, targets = paddle.randn([5, 4]), paddle.randn([5, 2])
    openness = nn.functional.sigmoid(gate(inputs))
    loss = nn.functional.mse_loss(head(openness * body(inputs)), targets)
    gradients = paddle.grad(loss, trained, no_grad_vars=[openness])
    for parameter, gradient in zip(trained, gradients):
        parameter.grad = gradient
    optimizer.step()
    optimizer.clear_grad()
