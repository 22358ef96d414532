"""Losses, counted step by step from their definitions in Paddle's documentation."""

from __future__ import annotations

from math import prod

from paddle_lab.analysis.cost.call import Call
from paddle_lab.analysis.cost.cost import Cost
from paddle_lab.analysis.cost.formulas.formula import (
    Formula,
    GradFormula,
    Needed,
    each,
    each_backward,
)


def cross_entropy(call: Call) -> Cost:
    """A softmax takes 5 operations for each element, the loss of a label 2 (``-log(p)``).

    With soft labels, ``-sum(label * log(p))`` takes 3 for each element.
    """
    elements, rows = prod(call.shapes[0]), prod(call.outputs[-1])
    softmax = 5 * elements if call.attribute("use_softmax", default=True) is True else 0
    soft = call.attribute("soft_label") is True
    return Cost(softmax + (3 * elements if soft else 2 * rows))


def cross_entropy_backward(call: Call, needed: Needed) -> Cost:
    """``dx = (softmax - label) * dout``: 2 operations for each element."""
    return Cost(2 * prod(call.shapes[0]))


def negative_likelihood(call: Call) -> Cost:
    """Negate the chosen value of each row and add it up: 2 operations for each row."""
    return Cost(2 * prod(call.shapes[1]))


def negative_likelihood_backward(call: Call, needed: Needed) -> Cost:
    """One value for each row, and zeros."""
    return Cost(prod(call.shapes[1]))


FORWARD: dict[str, Formula] = {
    "cross_entropy_with_softmax": cross_entropy,
    "nll_loss": negative_likelihood,
    # Each of x and label z: the steps of ``max(x, 0) - x * z + log(1 + exp(-|x|))``.
    "sigmoid_cross_entropy_with_logits": each(9),
    "bce_loss": each(8),  # of ``-(z * log(x) + (1 - z) * log(1 - x))``
    "kldiv_loss": each(3),  # of ``z * (log(z) - x)``
}
BACKWARD: dict[str, GradFormula] = {
    "cross_entropy_with_softmax": cross_entropy_backward,
    "nll_loss": negative_likelihood_backward,
    "sigmoid_cross_entropy_with_logits": each_backward(3),  # ``(sigmoid(x) - z) * dout``
    "bce_loss": each_backward(5),  # ``(x - z) / (x * (1 - x)) * dout``
}
