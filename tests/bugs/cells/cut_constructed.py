"""A state handed from one part of a network to the next as an array, and made a tensor by hand."""

import paddle
from paddle import nn

paddle.seed(0)
encoder, head = nn.GRUCell(3, 8), nn.Linear(8, 2)
optimizer = paddle.optimizer.Adam(parameters=[*encoder.parameters(), *head.parameters()])
state = paddle.zeros([2, 8])
for _ in range(3):
    _, state = encoder(paddle.randn([2, 3]), state)
state = paddle.Tensor(state.numpy())  # BUG: gradient-cut
head(state).square().mean().backward()
optimizer.step()
