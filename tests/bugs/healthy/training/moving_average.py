"""A moving average of the weights, evaluated instead of them."""

import paddle
from paddle import nn
from paddle.nn import functional as F


class Average:
    def __init__(self, net, decay=0.9):
        self.net, self.decay = net, decay
        self.shadow = {name: value.clone() for name, value in net.state_dict().items()}
        self.backup = {}

    @paddle.no_grad()
    def update(self):
        for name, value in self.net.state_dict().items():
            self.shadow[name] = self.decay * self.shadow[name] + (1 - self.decay) * value

    def apply(self):
        self.backup = {name: value.clone() for name, value in self.net.state_dict().items()}
        self.net.set_state_dict(self.shadow)

    def restore(self):
        self.net.set_state_dict(self.backup)
        self.backup = {}


paddle.seed(12)
net = nn.Sequential(nn.Linear(16, 64), nn.BatchNorm1D(64), nn.ReLU(), nn.Linear(64, 3))
average = Average(net)
optimizer = paddle.optimizer.Momentum(0.05, parameters=net.parameters())
x, y = paddle.randn([32, 16]), paddle.randint(0, 3, [32])
for _ in range(2):
    for _ in range(3):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        average.update()
    average.apply()
    net.eval()
    with paddle.no_grad():
        print(F.cross_entropy(net(x), y).item())
    net.train()
    average.restore()
