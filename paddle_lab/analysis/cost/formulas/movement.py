"""Ops that only make, move, select or convert values, which counts as no arithmetic.

Their gradients are only moved, too. But if an op reads one element several times, its backward adds
the gradients of these reads. Such ops are not in :data:`MOVING_BACK`.
"""

from __future__ import annotations

from math import prod
from typing import Final

from paddle_lab.analysis.cost.call import Call
from paddle_lab.analysis.cost.formulas.formula import (
    UNKNOWN,
    Cost,
    Formula,
    GradFormula,
    Needed,
    free,
    free_backward,
)

MOVING_BACK: Final = (
    "assign cast clone concat crop diag diagonal fill_diagonal flatten flip getitem "
    "masked_fill pad pad3d pixel_shuffle pixel_unshuffle channel_shuffle "
    "reshape reverse roll setitem set_value slice split split_with_num squeeze stack "
    "strided_slice transpose tril triu unbind unsqueeze unstack view_shape view_dtype where "
    "as_complex as_real real imag memcpy fill view_slice copy_to "
    "assign_value_ assign_out_"
)
_SUMMING_BACK: Final = (
    "pad3d broadcast_tensors embedding expand expand_as gather gather_nd index_sample "
    "index_select masked_select repeat_interleave take_along_axis tile unfold as_strided"
)
_MAKING: Final = (
    "arange assign_value bernoulli coalesce_tensor diag_embed empty empty_like eye full full_ "
    "full_like full_with_tensor gaussian gaussian_inplace gaussian_inplace_ is_empty linspace "
    "meshgrid nonzero numel one_hot ones ones_like randint randperm shape "
    "truncated_gaussian_random uniform uniform_inplace uniform_inplace_ zeros zeros_like "
    "share_data tril_indices triu_indices "
    "full_batch_size_like shape64 depend npu_identity "
    "sparse_to_sparse_csr sparse_sparse_coo_tensor sparse_to_dense number_count"
)

MOVEMENT: Final = frozenset(f"{MOVING_BACK} {_SUMMING_BACK} {_MAKING}".split())
"""The ops that cost no operations by definition."""


def broadcast_back(call: Call, needed: Needed) -> Cost:
    """The gradients of all copies of an element are added."""
    return Cost(call.out - prod(call.shapes[0])) if len(call.shapes) == 1 else UNKNOWN


def scattered_back(call: Call, needed: Needed) -> Cost:
    """Each element of the gradient is added at the position that the forward read."""
    return Cost(call.out)


def placed(call: Call) -> Cost:
    """Writing values costs nothing. Values that are added to old ones take one addition each."""
    adds = call.attribute("overwrite") is False or call.attribute("accumulate") is True
    if call.name.startswith("put_along_axis") and call.attribute("reduce") != "assign":
        return UNKNOWN
    return Cost(call.elements(2) if adds or call.name.startswith("index_add") else 0)


def padded_back(call: Call, needed: Needed) -> Cost:
    """The gradients of repeated elements are added. Padding with constants adds nothing."""
    repeats = call.attribute("mode", "constant") != "constant"
    return Cost(call.out - prod(call.shapes[0]) if repeats else 0)


FORWARD: dict[str, Formula] = {
    **dict.fromkeys(MOVEMENT, free),
    **dict.fromkeys(("scatter", "index_put", "index_add", "put_along_axis"), placed),
}
BACKWARD: dict[str, GradFormula] = {
    **dict.fromkeys(MOVING_BACK.split(), free_backward),
    "pad3d": padded_back,
    **dict.fromkeys(("expand", "expand_as", "tile"), broadcast_back),
    **dict.fromkeys(
        ("embedding", "gather", "gather_nd", "index_select", "index_sample", "take_along_axis",
         "unfold", "masked_select"),
        scattered_back,
    ),
}  # fmt: skip
