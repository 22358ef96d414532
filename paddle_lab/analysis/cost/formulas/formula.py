"""The cost of a call, the types of formulas, and formulas that many ops share."""

from __future__ import annotations

from collections.abc import Callable, Collection
from math import prod
from typing import Final, NamedTuple

from paddle_lab.analysis.cost.call import Call


class Cost(NamedTuple):
    """The arithmetic of a call; -1 if it is unknown.

    Attributes
    ----------
    flops
        All arithmetic operations; a multiply-add counts as 2.
    macs
        The multiply-adds of products of matrices and of convolutions, each counted as 1. So
        ``flops`` is ``2 * macs`` plus all other operations.
    """

    flops: int
    macs: int = 0


UNKNOWN: Final = Cost(-1, -1)
FREE: Final = Cost(0)


def multiply_adds(macs: int, others: int = 0) -> Cost:
    """Return the cost of multiply-adds and of other arithmetic operations."""
    return Cost(2 * macs + others, macs)


Needed = Collection[int]
"""The slots of a grad node that pass a gradient on: the inputs that need one."""
Formula = Callable[[Call], Cost]
GradFormula = Callable[[Call, Needed], Cost]


def each(steps: int) -> Formula:
    """Return a formula: ``steps`` operations for each element of the first input."""
    return lambda call: Cost(steps * prod(call.shapes[0]))


def each_backward(steps: int) -> GradFormula:
    """Return a formula for a grad node: ``steps`` operations for each element, if it has edges."""
    return lambda call, needed: Cost(steps * prod(call.shapes[0])) if needed else FREE


def free(call: Call) -> Cost:
    """Count no arithmetic."""
    return FREE


def free_backward(call: Call, needed: Needed) -> Cost:
    """Count no arithmetic: the gradient is only moved, or is zero everywhere."""
    return FREE


def products_backward(forward: Formula) -> GradFormula:
    """Return a formula for two inputs: each gradient takes the multiply-adds of the forward."""

    def backward(call: Call, needed: Needed) -> Cost:
        cost = forward(call)
        return cost if cost == UNKNOWN else multiply_adds(cost.macs * len({0, 1} & set(needed)))

    return backward
