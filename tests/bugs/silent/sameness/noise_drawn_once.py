"""A variational autoencoder draws its noise once."""
import paddle
from paddle import nn

class Vae(nn.Layer):
    def __init__(self, batch):
        super().__init__()
        self.enc, self.dec = nn.Linear(10, 8), nn.Linear(4, 10)
        self.eps = paddle.randn([batch, 4])  # WRONG

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, axis=-1)
        z = mu + self.eps * paddle.exp(0.5 * logvar)
        #= z = mu + paddle.randn(mu.shape) * paddle.exp(0.5 * logvar)
        kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).sum(-1).mean()
        return self.dec(z), kl

paddle.seed(3)
vae = Vae(16)
opt = paddle.optimizer.Adam(0.01, parameters=vae.parameters())
for step in range(6):
    x = paddle.randn([16, 10])
    out, kl = vae(x)
    loss = nn.functional.mse_loss(out, x) + 0.1 * kl
    loss.backward(); opt.step(); opt.clear_grad()
