"""A classifier whose last layer is a softmax, trained with cross_entropy, which has one inside."""
import paddle
from paddle import nn

paddle.seed(0)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 32), nn.ReLU())
        self.head = nn.Linear(32, 4)

    def forward(self, x):
        x = self.head(self.body(x))
        return nn.functional.softmax(x, axis=-1)  # WRONG
        #= return x


net, criterion = Net(), nn.CrossEntropyLoss()
opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
data, labels = paddle.randn([64, 12]), paddle.randint(0, 4, [64])
for epoch in range(2):
    for i in range(0, 64, 16):
        loss = criterion(net(data[i : i + 16]), labels[i : i + 16])
        loss.backward()
        opt.step()
        opt.clear_grad()
