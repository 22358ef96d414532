"""Targets in float64 promote the loss."""
import numpy as np
import paddle
from paddle import nn

paddle.seed(0)
rng = np.random.RandomState(0)
net = nn.Linear(6, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(3):
    x = paddle.randn([16, 6])
    y = paddle.to_tensor(rng.randn(16, 1))
    #= y = paddle.to_tensor(rng.randn(16, 1).astype("float32"))
    loss = ((net(x) - y) ** 2).mean()  # WRONG
    #= loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
