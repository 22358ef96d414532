import numpy as np
import paddle
from paddle import nn
paddle.seed(0)
rng = np.random.RandomState(0)
net = nn.Sequential(nn.BatchNorm1D(6), nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
image = nn.Sequential(nn.Conv2D(1, 4, 3), nn.BatchNorm2D(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3))
opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters() + image.parameters())
for step in range(4):
    x = paddle.to_tensor(rng.uniform(0, 5000, [8, 6]).astype("float32"))
    pixels = paddle.to_tensor(rng.randint(0, 256, [8, 1, 8, 8]).astype("float32"))
    nn.functional.cross_entropy(net(x) + image(pixels), paddle.randint(0, 3, [8])).backward()
    opt.step()
    opt.clear_grad()
