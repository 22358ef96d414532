"""Tells which arguments an op writes, and whether an op may draw random numbers."""

from __future__ import annotations

from functools import cache
from typing import Final

Writes = tuple[int, ...] | None
"""Positions of the arguments that an op writes; ``None`` for all."""

_WRITES: Final[dict[str, Writes]] = {
    "setitem": (0,),
    "coalesce_tensor": (0,),
    "coalesce_tensor_": None,
    **dict.fromkeys(("batch_norm", "batch_norm_"), (1, 2)),
    **dict.fromkeys(("sync_batch_norm_", "sparse_batch_norm_", "sparse_sync_batch_norm_"), (1, 2)),
    # Optimizers write the parameter and its state, and the copy of the parameter in float32.
    **dict.fromkeys(
        ("adam_", "adamw_", "fused_adam_", "lamb_", "merged_adam_", "nadam_", "radam_"),
        (0, *range(3, 9)),
    ),
    "adadelta_": (0, 2, 3, 5),
    "adagrad_": (0, 2, 4),
    "adamax_": (0, 3, 4, 6),
    "asgd_": (0, 3, 4, 6),
    "momentum_": (0, 2, 4),
    "merged_momentum_": (0, 2, 4),
    "rmsprop_": (0, 1, 3, 5, 6),
    "rprop_": (0, 2, 3, 4),
    "sgd_": (0, 3),
    "average_accumulates_": tuple(range(1, 7)),
    "check_finite_and_unscale_": None,
    "update_loss_scaling_": None,
    # Others that do not write their first argument, or not only this one.
    **dict.fromkeys(("assign_out_", "embedding_grad_add_to_", "where_"), (1,)),
    "fake_quantize_dequantize_moving_average_abs_max_": (1,),
    "fake_quantize_moving_average_abs_max_": (1,),
    "fake_quantize_range_abs_max_": (1,),
    "fused_multi_transformer_": (5,),
    "masked_multihead_attention_": (1, 7),
    **dict.fromkeys(("block_multihead_attention_", "block_multihead_attention_xpu_"), (0, 1, 2)),
    "fp8_gemm_blockwise_": (4, 6, 7),
    "random_routing_": (2,),
}  # fmt: skip

_RANDOM: Final = (
    "attention", "attn", "bernoulli", "binomial", "class_center_sample", "dirichlet", "dropout",
    "exponential", "gamma", "gaussian", "gumbel", "multinomial", "nce", "normal", "poisson",
    "randint", "random", "randperm", "rnn", "rrelu", "sampl", "shuffle", "uniform",
)  # fmt: skip


def written_by(name: str) -> Writes:
    """Return the positions of the arguments that an op writes. Most ops write none: ``()``."""
    return _WRITES.get(name, (0,) if name.endswith("_") else ())


@cache
def is_random(name: str) -> bool:
    """Tell whether an op may draw from a random generator. In doubt the answer is yes."""
    return any(part in name for part in _RANDOM)
