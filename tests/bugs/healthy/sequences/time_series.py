"""A forecast of several steps, each from the previous output; the inputs are normalized."""

import paddle
from paddle import nn
from paddle.nn import functional as F


class Forecast(nn.Layer):
    def __init__(self, width=32, ahead=4):
        super().__init__()
        self.ahead, self.cell, self.out = ahead, nn.LSTMCell(1, width), nn.Linear(width, 1)

    def forward(self, series):
        mean, spread = series.mean(1, keepdim=True), series.std(1, keepdim=True) + 1e-5
        series = (series - mean) / spread
        state = None
        for t in range(series.shape[1]):
            hidden, state = self.cell(series[:, t : t + 1], state)
        outputs = [self.out(hidden)]
        while len(outputs) < self.ahead:
            hidden, state = self.cell(outputs[-1], state)
            outputs.append(self.out(hidden))
        return paddle.concat(outputs, 1) * spread + mean


paddle.seed(51)
net = Forecast()
optimizer = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
schedule = paddle.optimizer.lr.ReduceOnPlateau(1e-3, patience=1)
optimizer.set_lr_scheduler(schedule)
wave = paddle.sin(paddle.arange(0, 30, 0.1, dtype="float32"))
windows = paddle.stack([wave[i : i + 24] for i in range(0, 256, 16)])
for _ in range(3):
    loss = F.smooth_l1_loss(net(windows[:, :20]), windows[:, 20:])
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    schedule.step(loss)
