"""Weights are initialised again for each epoch."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())


def reset(layer):
    if isinstance(layer, nn.Linear):
        nn.initializer.XavierUniform()(layer.weight)  # OR


#+ net.apply(reset)
for epoch in range(3):
    net.apply(reset)  # WRONG
    for _ in range(3):
        loss = nn.functional.cross_entropy(net(paddle.randn([16, 6])), paddle.randint(0, 3, [16]))
        loss.backward()
        opt.step()
        opt.clear_grad()
