"""Bright pixels in uint8 wrap around at 256."""
import numpy as np
import paddle
from paddle import nn

paddle.seed(43)
rng = np.random.default_rng(43)


def load(n):
    y = rng.integers(0, 2, n)
    image = rng.integers(0, 200, (n, 3, 16, 16)) + 50 * y[:, None, None, None]
    return paddle.to_tensor(image.astype("uint8")), paddle.to_tensor(y)


def brighten(image, by=70):
    return (image + by).astype("float32") / 255.0  # WRONG
    #= return (image.astype("float32") + by).clip(0, 255) / 255.0


class Small(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(3, 8, 3, stride=2)
        self.fc = nn.Linear(8, 2)

    def forward(self, x):
        return self.fc(nn.functional.relu(self.conv(x)).mean([2, 3]))


net = Small()
opt = paddle.optimizer.Adam(5e-3, parameters=net.parameters())
for i in range(8):
    image, label = load(20)
    loss = nn.functional.cross_entropy(net(brighten(image)), label)
    loss.backward()
    opt.step()
    opt.clear_grad()
    print(i, loss.item())
