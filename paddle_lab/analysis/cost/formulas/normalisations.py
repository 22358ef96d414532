"""Normalisations and dropout, counted step by step from their definitions.

Sources: Ioffe and Szegedy, "Batch Normalization" (2015), with its gradients; Ba et al., "Layer
Normalization" (2016); Zhang and Sennrich, "Root Mean Square Layer Normalization" (2019). Operations
that run once for each row or channel (a square root, a reciprocal) are not counted.
"""

from __future__ import annotations

from math import prod

from paddle_lab.analysis.cost.call import Call
from paddle_lab.analysis.cost.formulas.formula import (
    FREE,
    Cost,
    Formula,
    GradFormula,
    Needed,
    each_backward,
)


def batch_norm(call: Call) -> Cost:
    """Count for each element 2 operations in evaluation, like ``paddle.flops``, and 7 in training.

    In evaluation: the scale and the shift. In training also the sum, the difference to the mean,
    its square, the sum of squares, and the division by the deviation.
    """
    fixed = call.attribute("is_test") is True or call.attribute("use_global_stats") is True
    return Cost((2 if fixed else 7) * prod(call.shapes[0]))


def layer_norm(call: Call) -> Cost:
    """Count 5 for each element, as in :func:`batch_norm`, and 1 each for scale and shift."""
    return Cost((5 + len(call.shapes) - 1) * prod(call.shapes[0]))


def rms_norm(call: Call) -> Cost:
    """Count for each element a square, a sum and a division, and 1 each for scale and shift."""
    return Cost((3 + len(call.shapes) - 1) * prod(call.shapes[0]))


def normalisation_backward(call: Call, needed: Needed) -> Cost:
    """Count the operations for the gradients of the scale and the shift, then of the input.

    Both parts need the normalised input, 2 operations for each element. The sums for the shift and
    the scale take 1 and 2. The input's gradient ``a * (g - mean(g) - x * mean(g * x))`` uses the
    same sums and takes 4 more.
    """
    steps = 5 + (4 if 0 in needed else 0)
    return Cost(steps * prod(call.shapes[0])) if needed else FREE


def layer_norm_backward(call: Call, needed: Needed) -> Cost:
    """Count the operations of :func:`normalisation_backward`, and 4 more for the input's gradient.

    The scale differs along a row. So the input's gradient needs a product with the scale and two
    additional sums.
    """
    own_sums = 4 if 0 in needed and len(call.shapes) > 1 else 0
    return Cost(normalisation_backward(call, needed).flops + own_sums * prod(call.shapes[0]))


def dropout(call: Call) -> Cost:
    """Multiply with the mask and the scale: 2 for each element in training, none in evaluation."""
    in_training = call.attribute("is_test") is not True
    if in_training:
        return Cost((2 if call.attribute("mode") != "downscale_in_infer" else 1) * call.out)
    return Cost(call.out) if call.attribute("mode") == "downscale_in_infer" else FREE


FORWARD: dict[str, Formula] = {
    **dict.fromkeys(("batch_norm", "batch_norm_", "sync_batch_norm_"), batch_norm),
    **dict.fromkeys(("layer_norm", "group_norm", "instance_norm"), layer_norm),
    "rms_norm": rms_norm,
    "dropout": dropout,
}
BACKWARD: dict[str, GradFormula] = {
    **dict.fromkeys(("batch_norm", "sync_batch_norm", "instance_norm"), normalisation_backward),
    **dict.fromkeys(("layer_norm", "group_norm"), layer_norm_backward),
    "dropout": each_backward(2),
}
