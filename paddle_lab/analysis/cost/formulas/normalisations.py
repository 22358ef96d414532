"""Normalisations and dropout, counted step by step from their definitions.

Sources: Ioffe and Szegedy, "Batch Normalization" (2015), with its gradients; Ba et al., "Layer
Normalization" (2016); Zhang and Sennrich, "Root Mean Square Layer Normalization" (2019). What is
done once for a row or a channel (a square root, a reciprocal) is not counted.
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
    """Evaluation: a scale and a shift, as ``paddle.flops`` counts. Training: 7 for each element.

    The sum, the difference to the mean, its square, the sum of squares, a division by the
    deviation, the scale and the shift.
    """
    fixed = call.attribute("is_test") is True or call.attribute("use_global_stats") is True
    return Cost((2 if fixed else 7) * prod(call.shapes[0]))


def layer_norm(call: Call) -> Cost:
    """Five operations for each element, as in :func:`batch_norm`; one each for scale and shift."""
    return Cost((5 + len(call.shapes) - 1) * prod(call.shapes[0]))


def rms_norm(call: Call) -> Cost:
    """A square, the sum, a division by the root, and one for each of scale and shift."""
    return Cost((3 + len(call.shapes) - 1) * prod(call.shapes[0]))


def normalisation_backward(call: Call, needed: Needed) -> Cost:
    """Add what scale and shift need to what the input needs.

    Both need the normalised input, 2 operations for each element. The sums for the shift and the
    scale take 1 and 2. The input's gradient ``a * (g - mean(g) - x * mean(g * x))`` takes 4 more,
    with the same sums.
    """
    steps = 5 + (4 if 0 in needed else 0)
    return Cost(steps * prod(call.shapes[0])) if needed else FREE


def layer_norm_backward(call: Call, needed: Needed) -> Cost:
    """As :func:`normalisation_backward`.

    The scale differs along a row. So the input's gradient needs a product with the scale and the
    two additional sums: 4 operations more.
    """
    own_sums = 4 if 0 in needed and len(call.shapes) > 1 else 0
    return Cost(normalisation_backward(call, needed).flops + own_sums * prod(call.shapes[0]))


def dropout(call: Call) -> Cost:
    """Training: multiply with the mask and the scale, 2 for each element. Evaluation: none."""
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
