"""Elementwise ops: one operation for each element of the output.

Source: the convention of XLA's ``HloCostAnalysis`` and of DeepSpeed's flops profiler. A function
(``exp``, ``tanh``, ``gelu``) counts as one operation. Backward follows the chain rule: evaluate the
derivative, and multiply it with the gradient. So it takes two operations for each element, or one
if the derivative is already known.
"""

from __future__ import annotations

from math import prod
from typing import Final

from paddle_lab.analysis.cost.call import Call
from paddle_lab.analysis.cost.formulas.formula import (
    FREE,
    UNKNOWN,
    Cost,
    Formula,
    GradFormula,
    Needed,
    free_backward,
)

_UNARY: Final = (
    "abs acos acosh asin asinh atan atanh ceil celu clip cos cosh digamma elu erf erfinv exp expm1 "
    "floor gelu hardshrink hardsigmoid hardswish hardtanh i0 i1 leaky_relu lgamma log log10 log1p "
    "log2 logit logsigmoid mish reciprocal relu relu6 round rsqrt selu sigmoid sign silu sin sinh "
    "softplus softshrink softsign sqrt square stanh swish tan tanh tanh_shrink thresholded_relu "
    "trunc isnan isinf isfinite logical_not bitwise_not rint prelu increment"
)
_BINARY: Final = (
    "atan2 divide elementwise_pow floor_divide fmax fmin heaviside maximum minimum pow remainder "
    "equal not_equal less_than less_equal greater_than greater_equal logical_and logical_or "
    "logical_xor bitwise_and bitwise_or bitwise_xor copysign"
)
_NO_DERIVATIVE: Final = "ceil floor round sign trunc"


def one_each(call: Call) -> Cost:
    """``out[i] = f(x[i], …)``: one operation for each element of the output."""
    return Cost(call.out)


def unary_backward(call: Call, needed: Needed) -> Cost:
    """``dx = f'(x) * dout``: two operations for each element."""
    return Cost(2 * call.out) if len(call.shapes) == 1 or {*needed} == {0} else UNKNOWN


def scaled_backward(call: Call, needed: Needed) -> Cost:
    """``dx = scale * dout``: one operation for each element."""
    return Cost(call.out)


def _summed(call: Call, slot: int) -> int:
    """Return the additions that reduce a gradient to the shape of a broadcast input."""
    return call.out - prod(call.shapes[slot])


def add_backward(call: Call, needed: Needed) -> Cost:
    """The gradient passes unchanged. For a broadcast input it is summed."""
    return Cost(sum(_summed(call, slot) for slot in set(needed)))


def subtract_backward(call: Call, needed: Needed) -> Cost:
    """Like :func:`add_backward`, but the second input's gradient is negated."""
    return Cost(add_backward(call, needed).flops + (call.out if 1 in needed else 0))


def multiply_backward(call: Call, needed: Needed) -> Cost:
    """``dx = dout * y`` and ``dy = dout * x``; the gradient of a broadcast input is summed."""
    return Cost(add_backward(call, needed).flops + call.out * len(set(needed)))


def binary_backward(call: Call, needed: Needed) -> Cost:
    """For each input: a derivative and a multiplication. For a broadcast input also a sum."""
    if len(call.shapes) == 1:  # ``2 / x``
        return unary_backward(call, needed)
    return Cost(add_backward(call, needed).flops + 2 * call.out * len(set(needed)))


def bias_backward(call: Call, needed: Needed) -> Cost:
    """The bias of a ``linear``: its gradient is summed over the rows."""
    return Cost(call.out - prod(call.shapes[2])) if 1 in needed else FREE


def lerp(call: Call) -> Cost:
    """``out = x + weight * (y - x)``: three operations for each element."""
    return Cost(3 * call.out)


def add_n(call: Call) -> Cost:
    """A sum of ``n`` tensors takes ``n - 1`` additions for each element."""
    return Cost(call.out * (len(call.shapes) - 1))


def scale(call: Call) -> Cost:
    """``out = scale * x + bias``: one operation if scale is not 1, and one if bias is not 0."""
    factor = call.attribute("scale")
    if factor is None and len(call.shapes) == 1:
        return UNKNOWN
    return Cost(call.out * ((factor != 1) + (call.attribute("bias", 0.0) != 0)))


FORWARD: dict[str, Formula] = {
    **dict.fromkeys(f"{_UNARY} {_BINARY} add subtract multiply".split(), one_each),
    "lerp": lerp,
    "add_n": add_n,
    "scale": scale,
}
BACKWARD: dict[str, GradFormula] = {
    **dict.fromkeys(_UNARY.split(), unary_backward),
    **dict.fromkeys(_NO_DERIVATIVE.split(), free_backward),
    **dict.fromkeys(_BINARY.split(), binary_backward),
    "pow": unary_backward,
    "scale": scaled_backward,
    "add": add_backward,
    "subtract": subtract_backward,
    "multiply": multiply_backward,
    "add_n": free_backward,
}
