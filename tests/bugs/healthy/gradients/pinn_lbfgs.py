"""A network that solves a differential equation: LBFGS with a closure, derivatives of inputs."""

import math

import paddle
from paddle import nn

paddle.seed(5)
net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
inside = paddle.linspace(0, 1, 64).reshape([-1, 1])
inside.stop_gradient = False
border = paddle.to_tensor([[0.0], [1.0]])
optimizer = paddle.optimizer.LBFGS(
    learning_rate=1.0, max_iter=4, line_search_fn="strong_wolfe", parameters=net.parameters()
)
history = []


def closure():
    optimizer.clear_grad()
    u = net(inside)
    (du,) = paddle.grad(u, inside, grad_outputs=paddle.ones_like(u), create_graph=True)
    (ddu,) = paddle.grad(du, inside, grad_outputs=paddle.ones_like(du), create_graph=True)
    residual = ddu + math.pi**2 * paddle.sin(math.pi * inside)
    loss = residual.square().mean() + net(border).square().mean()
    loss.backward()
    history.append(float(loss))
    return loss


for _ in range(3):
    optimizer.step(closure)
with paddle.no_grad():
    print(history[0], history[-1], (net(inside) - paddle.sin(math.pi * inside)).abs().max())
