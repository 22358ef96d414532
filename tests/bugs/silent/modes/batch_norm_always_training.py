"""F.batch_norm is always called with training=True, in evaluation too."""
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(15)


class Block(nn.Layer):
    def __init__(self, i, o):
        super().__init__()
        self.conv = nn.Conv2D(i, o, 3, padding=1, bias_attr=False)
        self.bn = nn.BatchNorm2D(o)

    def forward(self, x):
        bn = self.bn
        x = F.batch_norm(self.conv(x), bn._mean, bn._variance, bn.weight, bn.bias, training=True)  # WRONG
        #= x = F.batch_norm(self.conv(x), bn._mean, bn._variance, bn.weight, bn.bias, training=self.training)
        return F.relu(x)


net = nn.Sequential(Block(3, 8), Block(8, 8), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(8, 3))
opt = paddle.optimizer.Momentum(0.01, parameters=net.parameters())
for epoch in range(2):
    net.train()
    for _ in range(2):
        loss = F.cross_entropy(net(paddle.randn([8, 3, 10, 10])), paddle.randint(0, 3, [8]))
        loss.backward()
        opt.step()
        opt.clear_grad()
    net.eval()
    with paddle.no_grad():
        print(net(paddle.randn([8, 3, 10, 10])).argmax(axis=1).numpy())
