"""Raw counts go into an LSTM."""
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(5)
np.random.seed(5)
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(3, 8); self.fc = nn.Linear(8, 1)
    def forward(self, x):
        return self.fc(self.rnn(x)[0][:, -1])
net = Net(); opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(3):
    x = paddle.to_tensor(np.random.randint(0, 90000, (16, 7, 3)).astype("float32"))
    #+ x = (x - x.mean()) / x.std()
    loss = F.mse_loss(net(x), paddle.randn([16, 1]))  # WRONG
    #= loss = F.mse_loss(net(x), paddle.randn([16, 1]))
    loss.backward(); opt.step(); opt.clear_grad()
