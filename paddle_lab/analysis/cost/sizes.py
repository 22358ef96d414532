"""The bytes of the tensors that a call made, and the bytes that its grad node saves."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Final

from paddle_lab.analysis.cost.call import Call, is_open
from paddle_lab.analysis.cost.formulas import optimizers
from paddle_lab.analysis.findings.saved.saved_tensors import KEPT

_FLOAT32_BYTES: Final = 4

_NAMES: Final = (
    "matmul linear bmm mv dot addmm conv2d conv3d depthwise_conv2d conv2d_transpose "
    "conv3d_transpose depthwise_conv2d_transpose add subtract multiply divide scale "
    "pow maximum minimum relu relu6 leaky_relu gelu silu elu sigmoid tanh softplus hardswish "
    "hardsigmoid hardtanh exp log sqrt rsqrt square abs sin cos clip softmax log_softmax "
    "logsumexp cross_entropy_with_softmax sum mean mean_all max min prod reshape transpose "
    "concat stack split split_with_num slice getitem squeeze unsqueeze flatten expand tile "
    "unbind cast assign clone where tril triu gather index_select embedding pool2d "
    "bilinear_interp nearest_interp cumsum pad pad3d p_norm full_ "
    "prelu dropout layer_norm"
)
_KNOWN: Final = frozenset(_NAMES.split())
"""Ops whose grad nodes keep known tensors: those in :data:`KEPT`, or all inputs if the op is not
listed there. ``tests/cost/test_saved_bytes.py`` compares with Paddle."""
_WITH_NUMBERS: Final = ("add", "subtract", "multiply", "divide")


def _mask(call: Call) -> int:
    """Return the bytes of a dropout's mask: in training, one byte for each element."""
    return 0 if call.attribute("is_test") is True else prod(call.shapes[0])


def _row_statistics(call: Call) -> int:
    """Return the bytes of the mean and the variance of each row in a layer normalisation."""
    axis = call.attribute("begin_norm_axis")
    return 2 * _FLOAT32_BYTES * prod(call.shapes[0][:axis])


def _is_basic(call: Call) -> bool:
    """Tell whether an index has only numbers and slices: ``x[0, 1:]``, but not ``x[[0, 1]]``."""
    parts = call.attributes.removeprefix("[").removesuffix("]").split(", ")
    numbers = sum(part.lstrip("-").isdigit() for part in parts)
    others = sum(":" in part or part == "..." for part in parts)
    fits = len(call.outputs[0]) == len(call.shapes[0]) - numbers
    return len(call.read) == 1 and numbers + others == len(parts) and fits


_HIDDEN: Final[dict[str, Callable[[Call], int]]] = {"dropout": _mask, "layer_norm": _row_statistics}
"""Ops whose grad nodes also keep tensors that Python never sees."""


def output_bytes(call: Call) -> int:
    """Return the size of the tensors that a call returned, -1 if it is unknown.

    Only the first output of an ``einsum`` counts. It keeps the others for backward.
    """
    if is_open(*call.outputs[:1]):  # later ones are cuDNN's, and empty in evaluation
        return -1
    return sum(one.bytes for one in (call.made[:1] if call.name == "einsum" else call.made))


def saved_bytes(call: Call) -> int:
    """Return how many bytes the call's grad node keeps, -1 if that is unknown.

    Parameters and buffers do not count, because they stay in memory anyway. A tensor that two grad
    nodes keep counts for both. A call without a grad node keeps nothing.
    """
    if call.name in optimizers.FORWARD or not any(one.needs_grad for one in call.made):
        return 0
    if is_open(*call.shapes, *call.outputs):
        return -1
    name = call.name.removesuffix("_")
    inputs, outputs = KEPT.get(name, (None, 0))
    if name == "batch_norm":
        # The node also keeps the batch's mean and variance, and outputs that cuDNN needs.
        kept = [*call.read[:1], *call.made[3:]]
    elif name not in _KNOWN or (name != call.name and inputs != ()):
        return -1  # an in-place op may have saved a copy of the overwritten values
    elif name == "getitem" and not _is_basic(call):
        return -1
    elif len(call.read) == 1 and name in _WITH_NUMBERS:
        if name == "divide":
            return -1  # ``x / 2`` keeps nothing, but ``2 / x`` does
        kept = []
    else:
        kept = [one for one in call.read if inputs is None or one.slot in inputs]
        kept += call.made[:outputs]
    hidden = _HIDDEN[name](call) if name in _HIDDEN else 0
    return hidden + sum(one.bytes for one in kept if not one.lives_on and not one.repeats)
