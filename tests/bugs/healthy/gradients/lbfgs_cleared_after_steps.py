"""LBFGS: its closure makes the gradients of a step, and the loop clears them after the step."""

import paddle
from paddle import nn

paddle.seed(6)
net = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
x = paddle.rand([64, 3])
y = x.square().sum(1, keepdim=True)
optimizer = paddle.optimizer.LBFGS(learning_rate=0.5, max_iter=3, parameters=net.parameters())


def closure():
    optimizer.clear_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    return loss


for turn in range(6):
    loss = optimizer.step(closure) if turn % 2 else optimizer.step(closure=closure)
    optimizer.clear_grad()
    print(turn, float(loss))
