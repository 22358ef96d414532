"""Class probabilities are compared with the index of the class."""
import numpy as np
import paddle
from paddle import nn

paddle.seed(10); rng = np.random.default_rng(10)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 5), nn.Softmax())
opt = paddle.optimizer.Adam(0.01, parameters=net.parameters())
for step in range(6):
    y = rng.integers(0, 5, 16)
    x = (rng.normal(size=(16, 6)) + y[:, None]).astype("float32")
    target = paddle.to_tensor(y[:, None].astype("float32"))
    loss = nn.functional.mse_loss(net(paddle.to_tensor(x)), target)  # WRONG
    #= loss = nn.functional.nll_loss(paddle.log(net(paddle.to_tensor(x))), paddle.to_tensor(y))
    loss.backward(); opt.step(); opt.clear_grad()
