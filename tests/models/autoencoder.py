"""A variational autoencoder with two ``PyLayer`` classes, one calling the other."""

from __future__ import annotations

from typing import Any

import paddle
from paddle import Tensor, nn
from paddle.autograd import PyLayer
from paddle.nn import functional as F

from tests.models.step import Build, Step, seed, training_step


class Tanh(PyLayer):
    """``tanh`` with its gradient written out."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        """Keep the result for the backward pass."""
        y = paddle.tanh(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> Tensor:
        """Return ``dy (1 - y²)``."""
        (y,) = ctx.saved_tensor()
        return dy * (1 - y.square())


class StraightThrough(PyLayer):
    """Round in the forward pass, pass the gradient on; calls another PyLayer, has two outputs."""

    @staticmethod
    def forward(ctx: Any, code: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
        """Return the rounded code and its smooth companion."""
        ctx.save_for_backward(code, scale)
        return (code * scale).round() / scale, Tanh.apply(code)

    @staticmethod
    def backward(ctx: Any, d_rounded: Tensor, d_smooth: Tensor) -> tuple[Tensor, Tensor]:
        """Treat rounding as the identity."""
        code, scale = ctx.saved_tensor()
        return d_rounded + d_smooth * (1 - code.tanh().square()), paddle.zeros_like(scale)


class Autoencoder(nn.Layer):
    """Encode, sample, quantise, decode."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 8), nn.ELU(), nn.Linear(8, 6))
        self.scale = self.create_parameter([1], default_initializer=nn.initializer.Constant(4.0))
        self.decoder = nn.Sequential(nn.Linear(3, 8), nn.ELU(), nn.Linear(8, 12))

    def forward(self, data: Tensor) -> tuple[Tensor, Tensor]:
        """Return the reconstruction and the latent distribution's divergence."""
        mean, log_variance = self.encoder(data).chunk(2, axis=-1)
        latent = mean + (0.5 * log_variance).exp() * paddle.randn(mean.shape)
        rounded, smooth = StraightThrough.apply(latent, self.scale)
        divergence = -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).sum(-1).mean()
        return self.decoder(rounded + 0.1 * smooth), divergence


def variational() -> Step:
    """Reconstruction loss and divergence."""
    seed()
    network = Autoencoder()
    data = paddle.rand([4, 12])

    def forward() -> Tensor:
        reconstruction, divergence = network(data)
        return F.mse_loss(reconstruction, data) + 0.1 * divergence

    return training_step(
        network, forward, optimizer=paddle.optimizer.RMSProp(0.01, parameters=network.parameters())
    )


MODELS: dict[str, Build] = {"autoencoder": variational}
