"""LoRA: low-rank additions to frozen layers, merged afterwards; and a learned prompt."""

import paddle
from paddle import nn
from paddle.nn import functional as F


class LowRank(nn.Layer):
    def __init__(self, linear, rank=4):
        super().__init__()
        self.linear = linear
        for parameter in linear.parameters():
            parameter.stop_gradient = True
        inward, outward = linear.weight.shape
        self.down = self.create_parameter([inward, rank])
        self.up = self.create_parameter(
            [rank, outward], default_initializer=nn.initializer.Constant(0.0)
        )

    def forward(self, x):
        return self.linear(x) + x @ self.down @ self.up

    @paddle.no_grad()
    def merge(self):
        self.linear.weight.set_value(self.linear.weight + self.down @ self.up)
        return self.linear


paddle.seed(48)
net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
for name in ("0", "2"):
    net._sub_layers[name] = LowRank(net._sub_layers[name])
trainable = [parameter for parameter in net.parameters() if not parameter.stop_gradient]
optimizer = paddle.optimizer.AdamW(1e-3, parameters=trainable)
for _ in range(3):
    loss = F.cross_entropy(net(paddle.randn([32, 32])), paddle.randint(0, 4, [32]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
x = paddle.randn([4, 32])
net.eval()
with paddle.no_grad():
    before = net(x)
    for name in ("0", "2"):
        net._sub_layers[name] = net._sub_layers[name].merge()
    print((net(x) - before).abs().max().item())
