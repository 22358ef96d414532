"""Tells which arguments an op writes, and whether an op may draw random numbers."""

from __future__ import annotations

from functools import cache
from typing import Final

Writes = tuple[int, ...] | None
"""Positions of the arguments that an op writes; ``None`` for all."""

_WRITES: Final[dict[str, Writes]] = {
    "setitem": (0,),
    "batch_norm": (1, 2),
    "sync_batch_norm_": (1, 2),
    "coalesce_tensor": (0,),
    # Optimizers read the gradient and the learning rate, and write all other tensors.
    **dict.fromkeys(
        ("adadelta_", "adagrad_", "adam_", "adamax_", "adamw_", "lamb_", "nadam_", "radam_",
         "asgd_", "rprop_"),
        (0, *range(3, 12)),
    ),
    "momentum_": (0, 2, 4),
    "sgd_": (0, 3),
    "rmsprop_": (0, 1, 3, 4, 5, 6, 7),
    "check_finite_and_unscale_": None,
    "update_loss_scaling_": None,
    "coalesce_tensor_": None,
}  # fmt: skip
_OTHERS_IN_PLACE: Final = (0,)

_RANDOM: Final = (
    "attention", "attn", "bernoulli", "binomial", "class_center_sample", "dirichlet", "dropout",
    "exponential", "gamma", "gaussian", "gumbel", "multinomial", "nce", "normal", "poisson",
    "randint", "random", "randperm", "rnn", "rrelu", "sampl", "shuffle", "uniform",
)  # fmt: skip


def written_by(name: str) -> Writes:
    """Return the positions of the arguments that an op writes. Most ops write none: ``()``."""
    return _WRITES.get(name, _OTHERS_IN_PLACE if name.endswith("_") else ())


@cache
def is_random(name: str) -> bool:
    """Tell whether an op may draw from a random generator. In doubt the answer is yes."""
    return any(part in name for part in _RANDOM)
