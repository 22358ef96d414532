# The encoding of PyTorch's tutorial on language models takes [time, batch, features]; a port to
# Paddle, whose layers take the batch first, cuts the table by the batch size.
import math

import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(3)


class PositionalEncoding(nn.Layer):
    def __init__(self, width, longest=128):
        super().__init__()
        self.drop = nn.Dropout(0.1)
        position = paddle.arange(longest, dtype="float32").unsqueeze(1)
        rate = paddle.exp(paddle.arange(0, width, 2, dtype="float32") * (-math.log(1e4) / width))
        pe = paddle.stack([paddle.sin(position * rate), paddle.cos(position * rate)], axis=-1)
        self.register_buffer("pe", pe.reshape([longest, 1, width]))

    def forward(self, x):
        x = x + self.pe[: x.shape[0], :]  # WRONG
        #= x = x + self.pe[: x.shape[1], :].transpose([1, 0, 2])
        return self.drop(x)


class Forecast(nn.Layer):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(3, 24)
        self.position = PositionalEncoding(24)
        layer = nn.TransformerEncoderLayer(24, 4, 48, dropout=0.1)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(24, 1)

    def forward(self, series):
        hidden = self.position(self.project(series))
        return self.head(self.encoder(hidden)[:, -1])


net = Forecast()
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
series = paddle.randn([64, 20, 3]).cumsum(axis=1)
for at in range(0, 64, 16):
    batch = series[at : at + 16]
    loss = F.mse_loss(net(batch[:, :-1]), batch[:, -1, :1])
    loss.backward()
    opt.step()
    opt.clear_grad()
