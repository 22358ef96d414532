"""A head is trained on a body that the optimizer omits; a frozen loss network is hidden."""

import paddle
from paddle import nn


class Gate(nn.Layer):
    """Has no parameters of its own: it is given a layer."""

    def forward(self, layer, x):
        return x * nn.functional.sigmoid(layer(x))


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 6), nn.Tanh())
        self.shared = nn.Linear(6, 6)
        self.gate = Gate()
        self.head = nn.Linear(6, 2)
        judge = nn.Linear(2, 3)
        for parameter in judge.parameters():
            parameter.stop_gradient = True
        self.judges = [judge]

    def forward(self, x):
        return self.head(self.gate(self.shared, self.shared(self.body(x))))

    def loss(self, x):
        return self.judges[0](self(x)).square().mean()


paddle.seed(52)
net = Net()
tuned = paddle.optimizer.SGD(0.1, parameters=net.head.parameters())
for _ in range(3):
    net.loss(paddle.randn([5, 4])).backward()
    tuned.step()
    net.clear_gradients()
