"""One part of a network passes its state to the next as an array, which becomes a new tensor."""

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
