"""Features below 1 are cast to integers, and all become 0."""
import numpy as np
import paddle
import paddle.nn as nn

rng = np.random.RandomState(1)
raw = rng.rand(60, 9)
target = (raw @ rng.rand(9, 1)).astype("float32")
features = paddle.to_tensor(raw).astype("int64")  # WRONG
#= features = paddle.to_tensor(raw)
features = features.astype("float32")
net = nn.Sequential(nn.Linear(9, 16), nn.ReLU(), nn.Linear(16, 1))
opt = paddle.optimizer.Adam(0.01, parameters=net.parameters())
loss_fn = nn.SmoothL1Loss()
for epoch in range(1):
    for i in range(0, 60, 20):
        pred = net(features[i : i + 20])
        loss = loss_fn(pred, paddle.to_tensor(target[i : i + 20]))
        loss.backward()
        opt.step()
        opt.clear_grad()
