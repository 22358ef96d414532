"""Gradient hooks are on the parameters; the weights are then replaced by copies on the device.

source: TrainCheck pytorch-104336, https://github.com/pytorch/pytorch/issues/104336
"""

import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))


def averaged(gradient):
    return gradient / 2


for parameter in net.parameters():
    parameter.register_hook(averaged)  # OR
for layer in (net[0], net[2]):
    moved = paddle.create_parameter(layer.weight.shape, "float32")
    moved.set_value(layer.weight.cpu())
    #- WRONG
    layer.weight = moved
    #= layer.weight.set_value(moved)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(4):
    x, y = paddle.randn([8, 6]), paddle.randint(0, 3, [8])
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
