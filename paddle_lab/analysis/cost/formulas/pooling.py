"""Pooling and interpolation, by the number of input elements behind each output element.

Source: the definitions in Paddle's documentation. The padding in a window counts like input, as for
convolutions.
"""

from __future__ import annotations

from math import prod

from paddle_lab.analysis.cost.call import Call, Shape
from paddle_lab.analysis.cost.formulas.formula import (
    FREE,
    UNKNOWN,
    Cost,
    Formula,
    GradFormula,
    Needed,
)

_TAPS = {"nearest": 1, "linear": 2, "bilinear": 4, "trilinear": 8, "bicubic": 16}


def _read(call: Call) -> int:
    """Return how many elements all windows read; -1 if the record does not tell."""
    x, out = _spatial(call, call.shapes[0]), _spatial(call, call.outputs[0])
    kernel = call.attribute("kernel_size")
    if len(x) != len(out) or not isinstance(kernel, list):
        return -1
    rest = call.out // max(1, prod(out))
    if call.attribute("global_pooling") is True:
        return prod(call.shapes[0])
    if call.attribute("adaptive") is True:
        return rest * prod(map(_adaptive, x, out))
    return call.out * prod(kernel)


def _spatial(call: Call, shape: Shape) -> Shape:
    return shape[1:-1] if str(call.attribute("data_format")).endswith("C") else shape[2:]


def _adaptive(extent: int, outputs: int) -> int:
    """Return the sum of the lengths of all windows along an axis. Windows may overlap."""
    return sum(-((i + 1) * extent // -outputs) - i * extent // outputs for i in range(outputs))


def pool(call: Call) -> Cost:
    """An average of ``n`` elements takes ``n - 1`` additions and a division.

    A maximum takes ``n - 1`` comparisons.
    """
    read = _read(call)
    if read < 0:
        return UNKNOWN
    is_maximum = call.attribute("pooling_type", "max") == "max"
    return Cost(read - call.out if is_maximum else read)


def pool_backward(call: Call, needed: Needed) -> Cost:
    """Divide each gradient by the size of its window, and add it to each element of the window.

    For a maximum, add the gradient to one element.
    """
    read = _read(call)
    if read < 0:
        return UNKNOWN
    is_maximum = call.attribute("pooling_type", "max") == "max"
    return Cost(call.out if is_maximum else call.out + read)


def interpolate(call: Call) -> Cost:
    """A weighted sum of 2, 4, 8 or 16 elements, without the weights. ``nearest`` is free."""
    taps = _TAPS.get(call.name.removesuffix("_interp"), 0)
    return Cost((2 * taps - 1) * call.out) if taps > 1 else FREE if taps else UNKNOWN


def interpolate_backward(call: Call, needed: Needed) -> Cost:
    """Multiply each gradient with the weights, and add it to the input elements behind it."""
    taps = _TAPS.get(call.name.removesuffix("_interp"), 0)
    return Cost((2 * taps if taps > 1 else 1) * call.out) if taps else UNKNOWN


_POOLS = ("pool2d", "pool3d", "max_pool2d_with_index", "max_pool3d_with_index")
_INTERPOLATIONS = [f"{name}_interp" for name in _TAPS]

FORWARD: dict[str, Formula] = {
    **dict.fromkeys(_POOLS, pool),
    **dict.fromkeys(_INTERPOLATIONS, interpolate),
}
BACKWARD: dict[str, GradFormula] = {
    **dict.fromkeys(_POOLS, pool_backward),
    **dict.fromkeys(_INTERPOLATIONS, interpolate_backward),
}
