"""The head was replaced after the optimizer had got the parameters of the old one."""

import paddle
from paddle import nn


class Net(nn.Layer):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Linear(4, 6)
        self.head = nn.Linear(6, classes)  # BUG: unreached-parameter

    def forward(self, x):
        return self.head(nn.functional.relu(self.body(x)))


paddle.seed(0)
net = Net(classes=10)
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
net.head = nn.Linear(6, 2)  # BUG: optimizer-of-others
nn.functional.cross_entropy(net(paddle.randn([4, 4])), paddle.randint(0, 2, [4])).backward()
optimizer.step()
optimizer.clear_grad()
