"""A convolutional GAN that keeps some generated samples to show them."""

import paddle
from paddle import nn
from paddle.nn import functional as F


class Generator(nn.Layer):
    def __init__(self, noise=16):
        super().__init__()
        self.gen = nn.Sequential(
            nn.Linear(noise, 16 * 16), nn.BatchNorm1D(256), nn.ReLU(), nn.Unflatten(1, [16, 4, 4]),
            nn.Conv2DTranspose(16, 8, 4, stride=2, padding=1), nn.BatchNorm2D(8), nn.ReLU(),
            nn.Conv2DTranspose(8, 1, 4, stride=2, padding=1), nn.Tanh(),
        )  # fmt: skip

    def forward(self, noise):
        return self.gen(noise)


class Discriminator(nn.Layer):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(1, 8, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2D(8, 16, 4, stride=2, padding=1), nn.BatchNorm2D(16), nn.LeakyReLU(0.2),
        )  # fmt: skip
        self.out = nn.Linear(16 * 16, 1)

    def forward(self, image):
        return self.out(self.features(image).flatten(1))


paddle.seed(4)
generator, discriminator = Generator(), Discriminator()
g_optimizer = paddle.optimizer.Adam(2e-4, beta1=0.5, parameters=generator.parameters())
d_optimizer = paddle.optimizer.Adam(2e-4, beta1=0.5, parameters=discriminator.parameters())
fixed_noise, samples, history = paddle.randn([16, 16]), [], {"g": [], "d": []}
for step in range(4):
    real, noise = paddle.randn([16, 1, 16, 16]), paddle.randn([16, 16])
    fake = generator(noise)

    d_real, d_fake = discriminator(real), discriminator(fake.detach())
    d_loss = F.binary_cross_entropy_with_logits(
        d_real, paddle.ones_like(d_real)
    ) + F.binary_cross_entropy_with_logits(d_fake, paddle.zeros_like(d_fake))
    d_optimizer.clear_grad()
    d_loss.backward()
    d_optimizer.step()

    g_out = discriminator(fake)
    g_loss = F.binary_cross_entropy_with_logits(g_out, paddle.ones_like(g_out))
    g_optimizer.clear_grad()
    g_loss.backward()
    g_optimizer.step()

    history["g"].append(g_loss.item())
    history["d"].append(float(d_loss))
    generator.eval()
    with paddle.no_grad():
        samples.append(generator(fixed_noise).numpy())
    generator.train()
print(history, len(samples))
