"""Denoising diffusion: a small UNet learns the noise, then images are sampled in steps."""

import paddle
from paddle import nn
from paddle.nn import functional as F

STEPS = 20


class Residual(nn.Layer):
    def __init__(self, inward, outward, width):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(4, inward), nn.GroupNorm(4, outward)
        self.conv1 = nn.Conv2D(inward, outward, 3, padding=1)
        self.conv2 = nn.Conv2D(outward, outward, 3, padding=1)
        self.time = nn.Linear(width, outward)
        self.skip = nn.Conv2D(inward, outward, 1) if inward != outward else nn.Identity()

    def forward(self, x, time):
        h = self.conv1(F.silu(self.norm1(x))) + self.time(F.silu(time)).unsqueeze([-1, -1])
        return self.skip(x) + self.conv2(F.silu(self.norm2(h)))


class UNet(nn.Layer):
    def __init__(self, width=8, time=16):
        super().__init__()
        self.time_width = time
        self.time = nn.Sequential(nn.Linear(time, time), nn.Silu(), nn.Linear(time, time))
        self.enter = nn.Conv2D(1, width, 3, padding=1)
        self.downs = nn.LayerList([Residual(width, width, time), Residual(width, 2 * width, time)])
        self.middle = Residual(2 * width, 2 * width, time)
        self.ups = nn.LayerList(
            [Residual(4 * width, width, time), Residual(2 * width, width, time)]
        )
        self.out = nn.Conv2D(width, 1, 3, padding=1)

    def forward(self, x, t):
        rate = paddle.exp(-paddle.arange(self.time_width // 2, dtype="float32"))
        angle = t.astype("float32").unsqueeze(1) * rate
        time = self.time(paddle.concat([angle.sin(), angle.cos()], axis=1))
        h, skips = self.enter(x), []
        for down in self.downs:
            h = down(h, time)
            skips.append(h)
            h = F.avg_pool2d(h, 2)
        h = self.middle(h, time)
        for up in self.ups:
            h = F.interpolate(h, scale_factor=2)
            h = up(paddle.concat([h, skips.pop()], axis=1), time)
        return self.out(h)


paddle.seed(27)
net = UNet()
optimizer = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())
beta = paddle.linspace(1e-4, 0.2, STEPS)
alpha = 1 - beta
kept = paddle.cumprod(alpha, dim=0)
for _ in range(3):
    image, noise = paddle.randn([4, 1, 16, 16]), paddle.randn([4, 1, 16, 16])
    t = paddle.randint(0, STEPS, [4])
    share = kept[t].reshape([-1, 1, 1, 1])
    loss = F.mse_loss(net(share.sqrt() * image + (1 - share).sqrt() * noise, t), noise)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
net.eval()
x, frames = paddle.randn([2, 1, 16, 16]), []
with paddle.no_grad():
    for step in reversed(range(0, STEPS, 4)):
        t = paddle.full([2], step, dtype="int64")
        x = (x - beta[step] / (1 - kept[step]).sqrt() * net(x, t)) / alpha[step].sqrt()
        if step:
            x = x + beta[step].sqrt() * paddle.randn(x.shape)
        frames.append(x.numpy())
print(len(frames))
