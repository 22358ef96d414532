"""Code to try limits on: plain training, nested graphs, a graph without steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import paddle
from paddle.autograd import PyLayer
from paddle.distributed.fleet.utils import recompute

import paddle_lab

Train = Callable[[int], None]


class Cube(PyLayer):  # type: ignore[misc]
    """A PyLayer with ops of its own, forward and backward."""

    @staticmethod
    def forward(context: Any, x: Any) -> Any:
        context.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(context: Any, gradient: Any) -> Any:
        (x,) = context.saved_tensor()
        return gradient * 3 * x * x


def plain(steps: int) -> None:
    """Train a small network."""
    net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.Tanh(), paddle.nn.Linear(4, 1))
    optimizer = paddle.optimizer.Adam(parameters=net.parameters())
    kept = []
    for step in range(steps):
        x = paddle.to_tensor([[0.1 * step, 0.2, 0.3]])
        loss = (net(x) * (1.0 + step)).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        kept.append(loss if step % 3 else float(loss))


def nested(steps: int) -> None:
    """Run PyLayers, recomputation, regions, a graph that is used twice and a second derivative."""
    net = paddle.nn.LayerList([paddle.nn.Linear(3, 3) for _ in range(2)])
    net.eval()
    optimizer = paddle.optimizer.SGD(parameters=net.parameters())
    for step in range(steps):
        x = paddle.full([2, 3], 0.5)
        x.stop_gradient = False
        with paddle_lab.region("embed"):
            h = recompute(net[0], x)
        Cube.apply(net[1](h)).sum().backward()
        y = net[1](x).tanh()
        (slope,) = paddle.grad(y.sum(), [x], create_graph=True)
        total = y.sum() + slope.square().mean()
        total.backward(retain_graph=True)
        total.backward()
        with paddle.no_grad():
            x.detach().add_(paddle.ones([2, 3]))
        optimizer.step()
        optimizer.clear_grad()
        if step % 2:
            paddle_lab.step()


def carried(steps: int) -> None:
    """Compute without steps, and carry a graph along."""
    cell = paddle.nn.GRUCell(3, 3)
    state = paddle.zeros([1, 3])
    for step in range(steps):
        _, state = cell(paddle.full([1, 3], 0.1 * step), state)
    state.sum().backward()


TRAIN: dict[str, Train] = {"plain": plain, "nested": nested, "carried": carried}
