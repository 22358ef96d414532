import numpy as np
import paddle
from paddle import nn
paddle.seed(0)
rng = np.random.RandomState(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
for step in range(4):
    x = rng.randn(8, 6).astype("float32")
    y = (1000 + 200 * x[:, :1]).astype("float32")
    nn.functional.mse_loss(net(paddle.to_tensor(x)), paddle.to_tensor(y)).backward()
    opt.step()
    opt.clear_grad()
