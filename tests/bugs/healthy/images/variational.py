"""A variational autoencoder: sampled codes, warm-up of one loss, images from the prior."""

import paddle
from paddle import nn
from paddle.nn import functional as F


class VAE(nn.Layer):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 48), nn.ReLU())
        self.mean, self.log_variance = nn.Linear(48, 8), nn.Linear(48, 8)
        self.decoder = nn.Sequential(nn.Linear(8, 48), nn.ReLU(), nn.Linear(48, 64), nn.Sigmoid())

    def forward(self, x):
        hidden = self.encoder(x)
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        code = mean + paddle.exp(0.5 * log_variance) * paddle.randn(mean.shape)
        return self.decoder(code), mean, log_variance


paddle.seed(28)
net = VAE()
optimizer = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
parts = {"image": 0.0, "code": 0.0}
for step in range(4):
    x = paddle.rand([32, 64])
    image, mean, log_variance = net(x)
    first = F.binary_cross_entropy(image, x, reduction="sum") / 32
    second = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum(1).mean()
    (first + min(1.0, step / 3) * second).backward()
    optimizer.step()
    optimizer.clear_grad()
    parts["image"] += float(first)
    parts["code"] += float(second)
net.eval()
with paddle.no_grad():
    drawn = net.decoder(paddle.randn([8, 8]))
    rebuilt = net(x)[0]
print(parts, drawn.shape, F.mse_loss(rebuilt, x).item())
