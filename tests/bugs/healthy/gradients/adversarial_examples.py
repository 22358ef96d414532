"""Adversarial examples in training, and a saliency map of a classifier."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(40)
net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4))
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())


def attack(x, y, size=0.1, steps=3):
    noise = paddle.uniform(x.shape, min=-size, max=size)
    for _ in range(steps):
        noise.stop_gradient = False
        loss = F.cross_entropy(net(x + noise), y)
        (slope,) = paddle.grad(loss, noise)
        noise = paddle.clip(noise + 0.04 * slope.sign(), -size, size).detach()
    return x + noise


for _ in range(3):
    x, y = paddle.randn([32, 32]), paddle.randint(0, 4, [32])
    loss = F.cross_entropy(net(attack(x, y)), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()

x = paddle.randn([8, 32])
x.stop_gradient = False
net(x).max(1).sum().backward()
print(x.grad.abs().argmax(1))
net.clear_gradients()
