"""What every model here offers: a step that can run repeatedly."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import numpy as np
import paddle
from paddle import Tensor, nn

if TYPE_CHECKING:
    from paddle.optimizer import Optimizer

Result = tuple[Tensor, dict[str, Tensor]]
"""The loss, and the gradients by the name of their parameter (or input)."""

BeforeBackward = Callable[[list[Tensor]], None]
"""Called with the tensors a backward pass starts from, right before it starts."""


class Step(Protocol):
    """One training step: forward, loss, backward and, where natural, the optimizer."""

    def __call__(self, before_backward: BeforeBackward = ...) -> Result: ...


Build = Callable[[], Step]


def look_away(_roots: list[Tensor]) -> None:
    """Do nothing before a backward pass."""


def seed(number: int = 0) -> None:
    """Make everything random repeat itself: parameters, inputs, dropout."""
    paddle.seed(number)
    np.random.seed(number)


def gradients_of(layer: nn.Layer) -> dict[str, Tensor]:
    """Return the gradients that parameters of ``layer`` hold, by structured name."""
    return {
        name: parameter.grad
        for name, parameter in layer.named_parameters()
        if parameter.grad is not None
    }


def training_step(
    layer: nn.Layer,
    forward: Callable[[], Tensor],
    *,
    optimizer: Optimizer | None = None,
) -> Step:
    """Return the usual step over ``layer``.

    Parameters
    ----------
    layer
        Holds the parameters whose gradients are returned.
    forward
        Runs the forward pass and returns the loss, of shape ``[]``.
    optimizer
        Makes its step after the backward pass; gradients are cleared before the forward pass,
        not after, so that they can be returned.
    """

    def step(before_backward: BeforeBackward = look_away) -> Result:
        layer.clear_gradients()
        loss = forward()
        before_backward([loss])
        loss.backward()
        if optimizer is not None:
            optimizer.step()
        return loss, gradients_of(layer)

    return step
