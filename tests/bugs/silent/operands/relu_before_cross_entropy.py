# AutoTrainer, DeepLocalize: the last layer of a classifier is followed by ReLU, before cross entropy
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(11)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2D(1, 8, 3), nn.Conv2D(8, 16, 3)
        self.fc1, self.fc2 = nn.Linear(16 * 16, 32), nn.Linear(32, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.relu(self.conv2(x)).flatten(1)
        x = F.relu(self.fc1(x))
        return F.relu(self.fc2(x))  # WRONG
        #= return self.fc2(x)


net = Net()
opt = paddle.optimizer.SGD(0.05, parameters=net.parameters())
for step in range(4):
    loss = F.cross_entropy(net(paddle.randn([16, 1, 14, 14])), paddle.randint(0, 10, [16]))  # OR
    loss.backward()
    opt.step()
    opt.clear_grad()
