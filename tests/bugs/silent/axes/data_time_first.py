"""The batch is [time, batch, features], the LSTM takes [batch, time, features]."""
import numpy as np
import paddle
from paddle import nn
paddle.seed(5); np.random.seed(5)
class Forecaster(nn.Layer):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 16)  # OR
        #= self.lstm = nn.LSTM(3, 16, time_major=True)
        self.head = nn.Linear(16, 1)
    def forward(self, series):
        seq = series.transpose([1, 0, 2])  # time first  # OR
        out, (h, c) = self.lstm(seq)  # WRONG
        #= out, (h, c) = self.lstm(seq)
        return self.head(out[-1])  # OR
net = Forecaster()
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
data = np.cumsum(np.random.randn(64, 21, 3), axis=1).astype("float32")
for step in range(4):
    batch = paddle.to_tensor(data[np.random.choice(64, 16)])
    pred = net(batch[:, :20])
    loss = nn.functional.mse_loss(pred, batch[:, 20, :1])
    loss.backward()
    opt.step()
    opt.clear_grad()
