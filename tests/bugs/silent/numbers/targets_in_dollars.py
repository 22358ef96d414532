"""House prices in dollars are targets of outputs near 0."""
import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(21)
rng = np.random.default_rng(21)
X = rng.normal(size=(128, 8)).astype("float32")
price = (250000 + 60000 * X[:, :1] + 20000 * X[:, 1:2]).astype("float32")
#+ price = (price - price.mean()) / price.std()
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for epoch in range(2):
    for i in range(0, 128, 32):
        x, y = paddle.to_tensor(X[i : i + 32]), paddle.to_tensor(price[i : i + 32])  # OR
        #- WRONG
        loss = F.mse_loss(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
