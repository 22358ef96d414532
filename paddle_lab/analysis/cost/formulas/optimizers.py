"""The steps of optimizers, counted from their update rules in Paddle's documentation.

The operations are for each element of the parameters. Operations that run once per step (``1 -
beta1``, the bias correction) are not counted.
"""

from __future__ import annotations

from paddle_lab.analysis.cost.call import Call
from paddle_lab.analysis.cost.formulas.formula import Cost, Formula, GradFormula


def sgd(call: Call) -> Cost:
    """``p -= rate * g``: 2 operations."""
    return Cost(2 * call.elements(0))


def momentum(call: Call) -> Cost:
    """``v = mu * v + g; p -= rate * v``: 4 operations.

    Nesterov's ``p -= rate * (g + mu * v)`` takes 2 more, the decay ``g += decay * p`` 2 more, and a
    rescaled gradient 1 more.
    """
    nesterov = call.attribute("use_nesterov") is True
    decay = call.attribute("regularization_method") == "l2_decay"
    rescaled = call.attribute("rescale_grad", 1.0) != 1
    return Cost((4 + 2 * nesterov + 2 * decay + rescaled) * call.elements(0))


def adam(call: Call) -> Cost:
    """Count 12 operations, 1 more for ``amsgrad``.

    ``m = b1 * m + (1 - b1) * g`` takes 3, ``v = b2 * v + (1 - b2) * g * g`` 4, and
    ``p -= rate * m / (sqrt(v) + epsilon)`` 5.
    """
    return Cost((12 + (call.attribute("amsgrad") is True)) * call.elements(0))


def adamw(call: Call) -> Cost:
    """Count :func:`adam`, and 1 operation for the decay ``p *= 1 - rate * coeff``."""
    decays = call.attribute("with_decay", default=True) is True
    return Cost(adam(call).flops + decays * call.elements(0))


def adagrad(call: Call) -> Cost:
    """``s += g * g; p -= rate * g / (sqrt(s) + epsilon)``: 7 operations."""
    return Cost(7 * call.elements(0))


def rmsprop(call: Call) -> Cost:
    """Count 11 operations, 5 more if centered.

    ``s = rho * s + (1 - rho) * g * g`` takes 4, ``v = mu * v + rate * g / sqrt(s + epsilon)`` 6,
    and ``p -= v`` 1. If centered, ``m = rho * m + (1 - rho) * g`` takes 3, and ``s - m * m`` 2.
    """
    return Cost((11 + 5 * (call.attribute("centered") is True)) * call.elements(0))


FORWARD: dict[str, Formula] = {
    "sgd_": sgd,
    **dict.fromkeys(("momentum_", "merged_momentum_"), momentum),
    **dict.fromkeys(("adam_", "merged_adam_"), adam),
    "adamw_": adamw,
    "adagrad_": adagrad,
    "rmsprop_": rmsprop,
}
BACKWARD: dict[str, GradFormula] = {}
