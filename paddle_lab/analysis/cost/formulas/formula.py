"""What a formula is, and formulas that are a number of operations for each element."""

from __future__ import annotations

from collections.abc import Callable, Collection
from math import prod

from paddle_lab.analysis.cost.call import Call
from paddle_lab.analysis.cost.cost import FREE, Cost

Needed = Collection[int]
"""The slots of a grad node that pass a gradient on: the inputs that need one."""
Formula = Callable[[Call], Cost]
GradFormula = Callable[[Call, Needed], Cost]


def each(steps: int) -> Formula:
    """Return the formula of ``steps`` operations for each element of the first input."""
    return lambda call: Cost(steps * prod(call.shapes[0]))


def each_backward(steps: int) -> GradFormula:
    """Return the same for a grad node that passes gradients on."""
    return lambda call, needed: Cost(steps * prod(call.shapes[0])) if needed else FREE


def free(call: Call) -> Cost:
    """No arithmetic."""
    return FREE


def free_backward(call: Call, needed: Needed) -> Cost:
    """No arithmetic: the gradient moves, or is zero everywhere."""
    return FREE
