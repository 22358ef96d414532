"""Pixels are divided by 255 by ToTensor and again in the net.

source: https://github.com/pkmital/pycadl/pull/5
"""
import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.vision.transforms import ToTensor

paddle.seed(19)
rng = np.random.RandomState(19)


class Glyphs(paddle.io.Dataset):
    def __init__(self, count=60):
        self.proto = rng.randint(0, 256, (5, 12, 12, 1))
        self.y = rng.randint(0, 5, count).astype("int64")
        noise = rng.randint(-20, 20, (count, 12, 12, 1))
        self.x = np.clip(self.proto[self.y] + noise, 0, 255).astype("uint8")
        self.to_tensor = ToTensor()

    def __getitem__(self, i):
        return self.to_tensor(self.x[i]), self.y[i]

    def __len__(self):
        return len(self.y)


class GlyphNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(1, 8, 3, stride=2, padding=1)
        self.fc = nn.Linear(8 * 36, 5)

    def forward(self, x):
        x = F.relu(self.conv(x / 255.0))  # WRONG
        #= x = F.relu(self.conv(x))
        return self.fc(x.flatten(1))


model = GlyphNet()
opt = paddle.optimizer.SGD(0.1, parameters=model.parameters())
loader = paddle.io.DataLoader(Glyphs(), batch_size=15, shuffle=True)
for epoch in range(2):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
    print(epoch, loss.item())
