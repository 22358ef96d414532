"""The features were frozen for an experiment, and the line was forgotten."""

import paddle
from paddle import nn

paddle.seed(0)
encoder = nn.GRU(4, 6)
decoder = nn.Linear(6, 4)
optimizer = paddle.optimizer.Adam(
    parameters=list(encoder.parameters()) + list(decoder.parameters())
)
series = paddle.randn([2, 5, 4])
states, last = encoder(series)
states.stop_gradient = True  # BUG: gradient-cut
loss = (decoder(states) - series).square().mean()
loss.backward()
optimizer.step()
optimizer.clear_grad()
