"""All but the norms is frozen, and then the new head too: the optimizer has nothing to train.

source: TrainCheck pytorch-forum-84911,
https://discuss.pytorch.org/t/obtaining-abnormal-changes-in-loss-and-accuracy/84911
"""

import paddle
from paddle import nn

paddle.seed(0)


class Net(nn.Layer):
    def __init__(self, classes):
        super().__init__()
        self.conv, self.bn = nn.Conv2D(3, 8, 3), nn.BatchNorm2D(8)
        self.fc = nn.Linear(8, classes)

    def forward(self, x):
        return self.fc(nn.functional.relu(self.bn(self.conv(x))).mean([2, 3]))


net = Net(10)
net.fc = nn.Linear(8, 4)
opt = paddle.optimizer.Adadelta(1.0, parameters=net.fc.parameters())  # OR
for name, parameter in net.named_parameters():
    if "bn" not in name:
        parameter.stop_gradient = True  # OR
for parameter in net.fc.parameters():
    parameter.stop_gradient = True  # WRONG
    #= parameter.stop_gradient = False
for epoch in range(2):
    net.train()
    for _ in range(2):
        x, y = paddle.randn([8, 3, 8, 8]), paddle.randint(0, 4, [8])
        opt.clear_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()  # OR
