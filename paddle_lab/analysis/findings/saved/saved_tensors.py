"""Which tensors an op's grad node keeps for backward, and checks for changes when it runs.

Every grad node of Paddle's is generated from a description that says what it keeps: the inputs that
its formula needs, the outputs, or nothing. A tensor of which only the shape is needed is kept
without its values and is not checked. The sets below say it op by op; an op in none of them keeps
all its inputs. They agree with what Paddle 3.3 does when each argument and each result of an op is
changed before backward (``tests/oracles/test_saved_tensors.py``).
"""

from __future__ import annotations

from typing import Final

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.trace.schema import ROLES

_INPUT, _OUTPUT = ROLES.index("input"), ROLES.index("output")


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NOTHING: Final = _names(
    "add subtract scale floor ceil round sign conj real imag as_complex as_real sum mean mean_all "
    "reshape transpose concat stack split split_with_num slice getitem strided_slice squeeze "
    "unsqueeze flatten expand expand_as tile unbind unstack flip reverse roll tril triu diag "
    "diagonal trace pad pad3d unfold fold cast assign clone broadcast_tensors masked_fill sort "
    "bilinear_interp nearest_interp bicubic_interp linear_interp trilinear_interp pixel_shuffle "
    "pixel_unshuffle channel_shuffle fft_r2c fft_c2c fft_c2r fill fill_diagonal increment full_ "
    "uniform_inplace gaussian_inplace view_shape view_dtype dropout einsum clip_ scale_ bernoulli "
    "shape numel is_empty trunc fill_any"
)
_OUTPUT_ONLY: Final = _names(
    "tanh exp expm1 sqrt rsqrt reciprocal sigmoid relu relu6 hardsigmoid selu softmax log_softmax "
    "cholesky inverse erfinv rnn gumbel_softmax fused_softmax_mask_upper_triangle"
)
_ALL_AND_OUTPUT: Final = _names(
    "silu elu max min amax amin prod logsumexp p_norm frobenius_norm cumprod median nanmedian "
    "pool2d pool3d max_pool2d_with_index max_pool3d_with_index det slogdet divide solve "
    "triangular_solve cholesky_solve group_norm lerp svd topk argsort kthvalue mode dist "
    "logcumsumexp tensor_unfold as_strided put_along_axis std maxout"
)
_SECOND_INPUT: Final = _names(
    "masked_select gather gather_nd index_select index_sample scatter scatter_nd_add index_add "
    "index_put kldiv_loss setitem take_along_axis"
)
_FIRST_TWO_INPUTS: Final = _names("linear layer_norm instance_norm")  # a bias is only added
_FIRST_INPUT: Final = _names("where embedding crop legacy_reshape batch_norm_")
_SECOND_INPUT_AND_OUTPUT: Final = _names("cross_entropy_with_softmax")
_OUTPUTS_ONLY_ALL: Final = _names("eigh eig eigvalsh qr lu")


def saved_tensors(facts: Facts, op: int) -> list[int]:
    """Return the values that an op's grad node keeps and checks: its inputs', then its outputs'."""
    name = facts.op_name(op)
    inputs, outputs = _used(facts, op, _INPUT), _used(facts, op, _OUTPUT)
    is_in_place = name.endswith("_")
    if is_in_place and name not in _NOTHING:
        # The op has overwritten its first input, and copied what its backward needs of it.
        inputs = [one for one in inputs if one[0] != 0]
        name = name.removesuffix("_")
    tensors = [tensor for _, tensor in inputs]
    made = [tensor for _, tensor in outputs]
    is_scale = name in ("multiply", "divide") and len(inputs) == 1  # ``x * 2`` runs as one
    if name in _NOTHING or is_scale:
        return []
    if name in _OUTPUT_ONLY:
        return made[:1]
    if name in _OUTPUTS_ONLY_ALL:
        return made
    if name in _ALL_AND_OUTPUT:
        return tensors + made
    if name in _SECOND_INPUT:
        return [tensor for slot, tensor in inputs if slot == 1]
    if name in _SECOND_INPUT_AND_OUTPUT:
        return [tensor for slot, tensor in inputs if slot == 1] + made[:1]
    if name in _FIRST_TWO_INPUTS:
        return [tensor for slot, tensor in inputs if slot <= 1]
    if name in _FIRST_INPUT:
        return [tensor for slot, tensor in inputs if slot == 0]
    return tensors


def touched_tensors(facts: Facts, op: int) -> list[int]:
    """Return all values that an op's grad node could have kept."""
    return [tensor for role in (_INPUT, _OUTPUT) for _, tensor in _used(facts, op, role)]


def _used(facts: Facts, op: int, role: int) -> list[tuple[int, int]]:
    return [(slot, tensor) for slot, tensor in facts.slots(op, role) if tensor >= 0]
