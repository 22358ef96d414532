"""Vector quantization: gradients skip the lookup, and a moving average counts the used codes."""

import paddle
from paddle import nn
from paddle.nn import functional as F


class Book(nn.Layer):
    def __init__(self, count=16, width=8):
        super().__init__()
        self.codes = nn.Embedding(count, width)
        self.register_buffer("used", paddle.zeros([count]))

    def forward(self, x):
        with paddle.no_grad():
            chosen = paddle.cdist(x, self.codes.weight).argmin(-1)
            self.used.set_value(0.9 * self.used + 0.1 * F.one_hot(chosen, 16).sum(0))
        code = self.codes(chosen)
        loss = F.mse_loss(code, x.detach()) + 0.25 * F.mse_loss(x, code.detach())
        return x + (code - x).detach(), loss


paddle.seed(46)
encoder, book = nn.Sequential(nn.Linear(32, 48), nn.ReLU(), nn.Linear(48, 8)), Book()
decoder = nn.Sequential(nn.Linear(8, 48), nn.ReLU(), nn.Linear(48, 32))
layers = nn.LayerList([encoder, book, decoder])
optimizer = paddle.optimizer.Adam(1e-3, parameters=layers.parameters())
for _ in range(4):
    x = paddle.randn([32, 32])
    code, loss = book(encoder(x))
    loss = loss + F.mse_loss(decoder(code), x)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
