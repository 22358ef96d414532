"""A data set seeds its generator for each item, so all items get the same noise.

source: https://github.com/xingyizhou/CenterNet/issues/233
"""
import numpy as np
import paddle
import paddle.nn as nn

paddle.seed(18)
rng = np.random.RandomState(18)


class Noisy(paddle.io.Dataset):
    """Clean signals and the same with fresh noise: a denoising task."""

    def __init__(self, count=48):
        phase = rng.rand(count, 1) * 6.28
        self.clean = np.sin(np.linspace(0, 6.28, 32)[None] + phase).astype("float32")

    def __getitem__(self, i):
        r = np.random.RandomState(42)  # WRONG
        #= r = np.random
        noise = r.normal(0, 0.4, 32).astype("float32")
        return self.clean[i] + noise, self.clean[i]

    def __len__(self):
        return len(self.clean)


class Denoiser(nn.Layer):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(32, 48), nn.ReLU(), nn.Linear(48, 32))

    def forward(self, x):
        return self.net(x)


model = Denoiser()
opt = paddle.optimizer.Adam(1e-2, parameters=model.parameters())
loader = paddle.io.DataLoader(Noisy(), batch_size=16, shuffle=True)
for epoch in range(3):
    for noisy, clean in loader:
        loss = nn.functional.mse_loss(model(noisy), clean)
        loss.backward()
        opt.step()
        opt.clear_grad()
    print(epoch, float(loss))
