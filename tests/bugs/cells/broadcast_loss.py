"""The loss of a regression falls, but all predictions approach the mean of the targets."""

import paddle
from paddle.nn import functional as F

paddle.seed(7)
model = paddle.nn.Sequential(paddle.nn.Linear(3, 16), paddle.nn.Tanh(), paddle.nn.Linear(16, 1))
optimizer = paddle.optimizer.Adam(0.01, parameters=model.parameters())
inputs = paddle.randn([24, 3])
targets = inputs.sum(axis=1)
for _ in range(2):
    loss = F.mse_loss(model(inputs), targets)  # BUG: broadcast-surprise
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
