"""The cost of one call: floating-point operations and multiply-adds."""

from __future__ import annotations

from typing import Final, NamedTuple


class Cost(NamedTuple):
    """The arithmetic of a call, -1 if it is not known.

    Attributes
    ----------
    flops
        All arithmetic operations; a multiply-add counts as 2.
    macs
        The multiply-adds of products of matrices and of convolutions, each counted as 1. Other
        arithmetic has none: ``flops`` is ``2 * macs`` plus the other operations.
    """

    flops: int
    macs: int = 0


UNKNOWN: Final = Cost(-1, -1)
FREE: Final = Cost(0)


def multiply_adds(macs: int, others: int = 0) -> Cost:
    """Return the cost of multiply-adds and of other arithmetic operations."""
    return Cost(2 * macs + others, macs)
