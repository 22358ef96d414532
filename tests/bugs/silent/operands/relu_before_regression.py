"""A ReLU after the last layer: the net cannot reach the targets below zero.

source: a question that is often asked about a loss that stays high
"""
import paddle
from paddle import nn

paddle.seed(0)


class Regressor(nn.Layer):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(5, 16), nn.Linear(16, 1)

    def forward(self, x):
        return nn.functional.relu(self.out(nn.functional.relu(self.hidden(x))))  # OR
        #= return self.out(nn.functional.relu(self.hidden(x)))


x = paddle.randn([64, 5])
y = paddle.to_tensor((x.sum(1, keepdim=True) * 2 - 1).numpy())
net = Regressor()
opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
for epoch in range(4):
    for at in range(0, 64, 16):
        loss = nn.functional.mse_loss(net(x[at : at + 16]), y[at : at + 16])  # WRONG
        #= loss = nn.functional.mse_loss(net(x[at : at + 16]), y[at : at + 16])
        loss.backward()
        opt.step()
        opt.clear_grad()
