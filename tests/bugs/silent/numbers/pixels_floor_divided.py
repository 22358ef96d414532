"""Integer division of the pixels."""
import numpy as np
import paddle
from paddle import nn

paddle.seed(0)
rng = np.random.RandomState(0)
net = nn.Sequential(nn.Flatten(), nn.Linear(64, 4))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(3):
    image = paddle.to_tensor(rng.randint(0, 256, [8, 1, 8, 8]))
    x = (image // 255).astype("float32")  # WRONG
    #= x = image.astype("float32") / 255
    loss = nn.functional.cross_entropy(net(x), paddle.randint(0, 4, [8]))
    loss.backward()
    opt.step()
    opt.clear_grad()
