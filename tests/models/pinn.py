"""Physics-informed networks: derivatives of the network are part of the loss (double grad)."""

from __future__ import annotations

import math

import paddle
from paddle import Tensor, nn

from tests.models.step import BeforeBackward, Build, Result, Step, gradients_of, look_away, seed


class Field(nn.Layer):
    """A smooth scalar field of two coordinates."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(2, 16)
        self.middle = nn.Linear(16, 16)
        self.outer = nn.Linear(16, 1)
        self.activation = paddle.tanh  # held since before the trace, as users do

    def forward(self, coordinates: Tensor) -> Tensor:
        """Return the field, ``[points, 1]``, at ``coordinates``, ``[points, 2]``."""
        hidden = self.activation(self.inner(coordinates))
        return self.outer(self.activation(self.middle(hidden)))


def burgers() -> Step:
    """Burgers' equation: ``u_t + u u_x = 0.01/π u_xx``, with ``create_graph=True``."""
    seed()
    network = Field()
    points = paddle.rand([12, 2])
    points.stop_gradient = False

    def step(before_backward: BeforeBackward = look_away) -> Result:
        network.clear_gradients()
        u = network(points)
        before_backward([u])
        (gradient,) = paddle.grad([u], [points], create_graph=True)
        u_t, u_x = gradient[:, 0:1], gradient[:, 1:2]
        before_backward([u_x])
        (second,) = paddle.grad([u_x], [points], create_graph=True)
        residual = u_t + u * u_x - 0.01 / math.pi * second[:, 1:2]
        loss = (residual**2).mean()
        before_backward([loss])
        loss.backward()
        return loss, gradients_of(network)

    return step


def gradient_penalty() -> Step:
    """A critic whose gradient's norm is pulled towards one (WGAN-GP)."""
    seed()
    critic = nn.Sequential(nn.Linear(6, 16), nn.Silu(), nn.Linear(16, 1))
    samples = paddle.randn([4, 6])

    def step(before_backward: BeforeBackward = look_away) -> Result:
        critic.clear_gradients()
        inputs = samples.clone()
        inputs.stop_gradient = False
        scores = critic(inputs)
        total = scores.sum()
        before_backward([total])
        (gradient,) = paddle.grad(total, inputs, create_graph=True)
        loss = scores.mean() + 10 * (gradient.norm(axis=1) - 1).square().mean()
        before_backward([loss])
        loss.backward()
        return loss, gradients_of(critic)

    return step


MODELS: dict[str, Build] = {"pinn_burgers": burgers, "gradient_penalty": gradient_penalty}
