"""The head's parameters are in the list twice."""
import paddle
from paddle import nn

paddle.seed(0)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(6, 8), nn.Linear(8, 3)

    def forward(self, x):
        return self.head(nn.functional.relu(self.body(x)))


net = Net()
parameters = net.parameters() + net.head.parameters()  # OR
opt = paddle.optimizer.SGD(0.1, parameters=parameters)  # WRONG
#= opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(4):
    x, y = paddle.randn([16, 6]), paddle.randint(0, 3, [16])
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
