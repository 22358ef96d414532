"""Which tensors an op's grad node saves for backward, and later checks for changes.

Paddle generates each grad node from a description of what it saves: the inputs that its formula
needs, the outputs, or nothing. If only the shape of a tensor is needed, its values are neither
saved nor checked. The tables below list this for each op; an op that is in no table saves all its
inputs. A test confirms the tables for Paddle 3.3: it changes each argument and each result of an op
before backward (``tests/oracles/test_saved_tensors.py``).
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.trace.trees import Rows, outermost, rows_by

_NOTHING: Final = (
    "add subtract scale floor ceil round sign conj real imag as_complex as_real sum mean mean_all "
    "reshape transpose concat stack split split_with_num slice getitem strided_slice squeeze "
    "unsqueeze flatten expand expand_as tile unbind unstack flip reverse roll tril triu diag "
    "diagonal trace pad pad3d unfold fold cast assign clone broadcast_tensors masked_fill sort "
    "bilinear_interp nearest_interp bicubic_interp linear_interp trilinear_interp pixel_shuffle "
    "pixel_unshuffle channel_shuffle fft_r2c fft_c2c fft_c2r fill fill_diagonal increment full_ "
    "uniform_inplace gaussian_inplace view_shape view_dtype dropout einsum clip_ scale_ bernoulli "
    "shape numel is_empty trunc fill_any"
)
_FIRST_OUTPUT: Final = (
    "tanh exp expm1 sqrt rsqrt reciprocal sigmoid relu relu6 hardsigmoid selu softmax log_softmax "
    "cholesky inverse erfinv rnn gumbel_softmax fused_softmax_mask_upper_triangle"
)
_INPUTS_AND_OUTPUTS: Final = (
    "silu elu max min amax amin prod logsumexp p_norm frobenius_norm cumprod median nanmedian "
    "pool2d pool3d max_pool2d_with_index max_pool3d_with_index det slogdet divide solve "
    "triangular_solve cholesky_solve group_norm lerp svd topk argsort kthvalue mode dist "
    "logcumsumexp tensor_unfold as_strided put_along_axis std maxout"
)
_SECOND_INPUT: Final = (
    "masked_select gather gather_nd index_select index_sample scatter scatter_nd_add index_add "
    "index_put kldiv_loss setitem take_along_axis"
)
_FIRST_TWO_INPUTS: Final = "linear layer_norm instance_norm"  # a bias is only added
_FIRST_INPUT: Final = "where embedding crop legacy_reshape"
_SECOND_INPUT_AND_OUTPUT: Final = "cross_entropy_with_softmax"
_OUTPUTS_ALONE: Final = "eigh eig eigvalsh qr lu"

KEPT: Final[dict[str, tuple[tuple[int, ...] | None, int | None]]] = {
    name: kept
    for names, kept in (
        (_NOTHING, ((), 0)),
        (_FIRST_OUTPUT, ((), 1)),
        (_OUTPUTS_ALONE, ((), None)),
        (_INPUTS_AND_OUTPUTS, (None, None)),
        (_FIRST_INPUT, ((0,), 0)),
        (_SECOND_INPUT, ((1,), 0)),
        (_FIRST_TWO_INPUTS, ((0, 1), 0)),
        (_SECOND_INPUT_AND_OUTPUT, ((1,), 1)),
    )
    for name in names.split()
}
"""For each op: the slots of the saved inputs, and the number of saved outputs; None for all."""


def saved_tensors(facts: Facts, op: int) -> list[int]:
    """Return the tensor values that an op's grad node saves and checks: inputs, then outputs."""
    name, inputs, slots = facts.op_name(op), facts.inputs(op), facts.input_slots(op)
    if name.endswith("_") and KEPT.get(name) != ((), 0):
        # The op overwrote its first input, but its grad node saved a copy of the old values.
        inputs = [tensor for slot, tensor in zip(slots, inputs, strict=True) if slot]
        slots = [slot for slot in slots if slot]
        name = name.removesuffix("_")
    if name in ("multiply", "divide") and len(inputs) == 1:
        return []  # ``x * 2`` runs as this op, with one tensor
    kept, output_count = KEPT.get(name, (None, 0))
    if kept is not None:
        inputs = [tensor for slot, tensor in zip(slots, inputs, strict=True) if slot in kept]
    return inputs + facts.outputs(op)[:output_count]


_VIEWS = frozenset(
    ("reshape", "reshape_", "transpose", "getitem", "slice", "strided_slice", "squeeze", "squeeze_",
     "unsqueeze", "unsqueeze_", "flatten", "flatten_", "unbind", "view_shape", "view_dtype",
     "as_strided", "diagonal", "tensor_unfold", "as_complex", "as_real", "real", "imag",
     "index_select_strided", "dropout")
)  # fmt: skip


class Storages:
    """The storages of a record's tensors. Shared storages are found only where an op shows them."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        tensors = facts.record.tensors
        # For each row: an older row of the same storage, if there is one.
        older = np.maximum(tensors["previous"], tensors["detached_from"])
        for op in facts.ops_named(_VIEWS):
            for source in facts.inputs(op)[:1]:
                for made in facts.outputs(op):
                    # A view begins with the inplace version of its base tensor, a copy with 0.
                    if older[made] < 0 and facts.version(made) == facts.version(source):
                        older[made] = source
        self._roots = outermost(older)
        self.root = self._roots.tolist().__getitem__
        """The first row of a row's storage, which identifies the storage."""

    @cached_property
    def _members(self) -> Rows:
        return rows_by(self._roots, np.arange(len(self._roots)), len(self._roots))

    def members(self, tensor: int) -> list[int]:
        """Return all rows that are values of the same storage as this row, in order."""
        return self._members(self.root(tensor))

    def changes(self, tensor: int) -> list[tuple[int, int]]:
        """Return the ops that modified a tensor's storage in place, in order, and the new versions.

        An op counts if its result has a higher version than the storage had before.
        """
        version, found = 0, []
        for row in self.members(tensor):
            op = self._facts.producer(row)
            if self._facts.version(row) > version and op >= 0:
                found.append((op, self._facts.version(row)))
            version = max(version, self._facts.version(row))
        return found
