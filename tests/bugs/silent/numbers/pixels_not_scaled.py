"""Pixels of 0..255 go into a convolution."""
import numpy as np
import paddle
from paddle import nn

paddle.seed(0)
rng = np.random.RandomState(0)
net = nn.Sequential(nn.Conv2D(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(8, 4))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(4):
    image = paddle.to_tensor(rng.randint(0, 256, [8, 3, 8, 8]).astype("float32"))
    #= image = paddle.to_tensor(rng.randint(0, 256, [8, 3, 8, 8]).astype("float32")) / 255.0
    loss = nn.functional.cross_entropy(net(image), paddle.randint(0, 4, [8]))  # WRONG
    #= loss = nn.functional.cross_entropy(net(image), paddle.randint(0, 4, [8]))
    loss.backward()
    opt.step()
    opt.clear_grad()
