"""Reductions and softmax, counted step by step from their definitions.

Source: the definitions in Paddle's documentation, with one operation for each arithmetic step on
each element. Softmax then takes 5: the maximum, a difference, ``exp``, the sum, a division. So does
the ``flops_computation.py`` of ELECTRA (Clark et al., 2020).
"""

from __future__ import annotations

from math import prod

from paddle_lab.analysis.cost.call import Call
from paddle_lab.analysis.cost.cost import UNKNOWN, Cost
from paddle_lab.analysis.cost.formulas.formula import (
    Formula,
    GradFormula,
    Needed,
    each,
    each_backward,
    free_backward,
)


def fold(call: Call) -> Cost:
    """Reduce ``n`` elements to ``m``: ``n - m`` additions, comparisons or products."""
    return Cost(max(0, prod(call.shapes[0]) - call.out))


def mean(call: Call) -> Cost:
    """``n - m`` additions, and a division for each of the ``m`` elements of the output."""
    return Cost(prod(call.shapes[0]))


def mean_backward(call: Call, needed: Needed) -> Cost:
    """The gradient is divided once for each element of the output, and copied."""
    return Cost(call.out)


def norm_backward(call: Call, needed: Needed) -> Cost:
    """Multiply ``x`` with ``dout / out``; only the 2-norm has this simple gradient."""
    is_euclidean = call.attribute("porder") == 2
    return Cost(prod(call.shapes[0]) + call.out) if is_euclidean else UNKNOWN


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
}
