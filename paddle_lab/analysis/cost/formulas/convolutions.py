"""Convolutions: one multiply-add for each weight that meets each position.

Source: Dumoulin and Visin, "A guide to convolution arithmetic for deep learning" (2016). Positions
in the padding count as well, as in ``paddle.flops`` and in published figures. A transposed
convolution is the gradient of a convolution: its input is that one's output.
"""

from __future__ import annotations

from math import prod

from paddle_lab.analysis.cost.call import Call
from paddle_lab.analysis.cost.cost import Cost, multiply_adds
from paddle_lab.analysis.cost.formulas.formula import Formula, GradFormula, Needed


def _macs(call: Call) -> int:
    """Return the multiply-adds; a weight is ``[out, in / groups, *kernel]``."""
    return call.out * prod(call.shapes[1][1:])


def _transposed_macs(call: Call) -> int:
    """Return the multiply-adds; a weight is ``[in, out / groups, *kernel]``."""
    return prod(call.shapes[0]) * prod(call.shapes[1][1:])


def convolution(call: Call) -> Cost:
    """Each output element is a sum over ``in / groups`` channels and the kernel."""
    return multiply_adds(_macs(call))


def convolution_backward(call: Call, needed: Needed) -> Cost:
    """The gradients of input and weight take as many multiply-adds as the forward, each."""
    return multiply_adds(_macs(call) * len({0, 1} & set(needed)))


def transposed(call: Call) -> Cost:
    """Each input element is multiplied with ``out / groups`` kernels."""
    return multiply_adds(_transposed_macs(call))


def transposed_backward(call: Call, needed: Needed) -> Cost:
    """The gradients of input and weight take as many multiply-adds as the forward, each."""
    return multiply_adds(_transposed_macs(call) * len({0, 1} & set(needed)))


_NAMES = ("conv2d", "conv3d", "depthwise_conv2d")
_TRANSPOSED_NAMES = ("conv2d_transpose", "conv3d_transpose", "depthwise_conv2d_transpose")

FORWARD: dict[str, Formula] = {
    **dict.fromkeys(_NAMES, convolution),
    **dict.fromkeys(_TRANSPOSED_NAMES, transposed),
}
BACKWARD: dict[str, GradFormula] = {
    **dict.fromkeys(_NAMES, convolution_backward),
    **dict.fromkeys(_TRANSPOSED_NAMES, transposed_backward),
}
