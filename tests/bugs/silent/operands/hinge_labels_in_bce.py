"""Labels of -1 and 1 in a loss that takes 0 and 1."""
import numpy as np
import paddle
from paddle import nn

paddle.seed(0)
rng = np.random.RandomState(0)
net = nn.Linear(6, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(4):
    x = rng.randn(32, 6).astype("float32")
    y = np.sign(x[:, :1] + 1e-3)
    #= y = (x[:, :1] > 0).astype("float32")
    logits = net(paddle.to_tensor(x))
    loss = nn.functional.binary_cross_entropy_with_logits(logits, paddle.to_tensor(y))  # WRONG
    #= loss = nn.functional.binary_cross_entropy_with_logits(logits, paddle.to_tensor(y))
    loss.backward()
    opt.step()
    opt.clear_grad()
