"""Reductions, softmax and losses, counted step by step from their definitions.

Source: the definitions in Paddle's documentation, with one operation for each arithmetic step on
each element. So a softmax takes 5: the maximum, a difference, ``exp``, the sum, a division. The
``flops_computation.py`` of ELECTRA (Clark et al., 2020) counts the same.
"""

from __future__ import annotations

from math import prod

from paddle_lab.analysis.cost.call import Call
from paddle_lab.analysis.cost.formulas.formula import (
    UNKNOWN,
    Cost,
    Formula,
    GradFormula,
    Needed,
    each,
    each_backward,
    free_backward,
)


def fold(call: Call) -> Cost:
    """Reduce ``n`` elements to ``m`` by ``n - m`` additions, comparisons or products."""
    return Cost(max(0, prod(call.shapes[0]) - call.out))


def mean(call: Call) -> Cost:
    """Reduce ``n`` elements to ``m`` by ``n - m`` additions and ``m`` divisions."""
    return Cost(prod(call.shapes[0]))


def mean_backward(call: Call, needed: Needed) -> Cost:
    """Divide the gradient once for each element of the output, and copy it."""
    return Cost(call.out)


def norm_backward(call: Call, needed: Needed) -> Cost:
    """Multiply ``x`` with ``dout / out``. Only the 2-norm has such a simple gradient."""
    is_euclidean = call.attribute("porder") == 2
    return Cost(prod(call.shapes[0]) + call.out) if is_euclidean else UNKNOWN


def cross_entropy(call: Call) -> Cost:
    """Count 5 operations for each element (softmax) and 2 for each label (``-log(p)``).

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
    """Negate the chosen value of each row and sum the values: 2 operations for each row."""
    return Cost(2 * prod(call.shapes[1]))


def negative_likelihood_backward(call: Call, needed: Needed) -> Cost:
    """Count one operation for each row. All other elements are zeros."""
    return Cost(prod(call.shapes[1]))


_FOLDS = "sum max min amax amin prod any all argmax argmin"

FORWARD: dict[str, Formula] = {
    **dict.fromkeys(_FOLDS.split(), fold),
    **dict.fromkeys(("mean", "mean_all"), mean),
    "softmax": each(5),
    "log_softmax": each(5),  # the maximum, a difference, exp, the sum, a difference
    "logsumexp": each(4),  # the maximum, a difference, exp, the sum
    "cumsum": each(1),
    "cumprod": each(1),
    "p_norm": each(3),  # an absolute value, a power, the sum
    "frobenius_norm": each(2),  # a square, the sum
    "squared_l2_norm": each(2),
    "cross_entropy_with_softmax": cross_entropy,
    "nll_loss": negative_likelihood,
    # For logits x and labels z: ``max(x, 0) - x * z + log(1 + exp(-|x|))``.
    "sigmoid_cross_entropy_with_logits": each(9),
    "bce_loss": each(8),  # of ``-(z * log(x) + (1 - z) * log(1 - x))``
    "kldiv_loss": each(3),  # of ``z * (log(z) - x)``
}
BACKWARD: dict[str, GradFormula] = {
    "sum": free_backward,
    **dict.fromkeys(("mean", "mean_all"), mean_backward),
    **dict.fromkeys(("max", "min", "amax", "amin"), each_backward(2)),  # compare, multiply
    # out * (dout - sum(dout * out)): a product, the sum, a difference, a product
    "softmax": each_backward(4),
    # dout - exp(out) * sum(dout): exp, the sum, a product, a difference
    "log_softmax": each_backward(4),
    "logsumexp": each_backward(3),  # exp(x - out), times the gradient
    "cumsum": each_backward(1),
    "squared_l2_norm": each_backward(1),  # x times 2 * dout
    "p_norm": norm_backward,
    "cross_entropy_with_softmax": cross_entropy_backward,
    "nll_loss": negative_likelihood_backward,
    "sigmoid_cross_entropy_with_logits": each_backward(3),  # ``(sigmoid(x) - z) * dout``
    "bce_loss": each_backward(5),  # ``(x - z) / (x * (1 - x)) * dout``
}
