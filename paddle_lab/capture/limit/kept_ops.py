"""Which ops of a trace are kept, and what follows for what they had to do with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from paddle_lab.capture.limit.spans import Keys, Mask, Span, is_inside
from paddle_lab.capture.rows.cells import OpCell
from paddle_lab.capture.tables.op_columns import OpRows


class KeptOps:
    """Which ops are kept, and what follows for what they used and what happened between them.

    Parameters
    ----------
    ops
        All ops that are held.
    spans
        The ops to keep, ascending.
    """

    def __init__(self, ops: OpRows, spans: Sequence[Span]) -> None:
        self.ops = ops
        self._spans = spans
        self.is_kept = is_inside(ops.keys, spans)

    @cached_property
    def keys(self) -> Keys:
        """The ops that are kept."""
        return self.ops.keys[self.is_kept]

    @cached_property
    def forgotten(self) -> Keys:
        """Those that are not."""
        return self.ops.keys[~self.is_kept]

    def moments(self, op_counts: Iterable[int]) -> Mask:
        """Tell which moments lie between kept ops, by how many ops had a key."""
        counts = np.fromiter(op_counts, np.int64)
        return is_inside(counts, self._spans) | is_inside(counts - 1, self._spans)

    def backward_calls(self, op_counts: Iterable[int]) -> Mask:
        """Tell which backward calls began after a kept op, by how many ops had a key."""
        return is_inside(np.maximum(np.fromiter(op_counts, np.int64) - 1, 0), self._spans)

    def column(self, number: int) -> Keys:
        """Return one of the cells that every op has, of the kept ones."""
        return self.ops.column(number)[self.is_kept]

    def keeps(self, keys: Keys, column: int) -> Mask:
        """Tell which keys belong to kept ops: used by one, or given while they ran.

        Parameters
        ----------
        column
            The cell in which ops have such a key.
        """
        is_used = np.isin(keys, self.column(column))
        found: Mask = is_used | is_of_kept(keys, self.ops.column(column), self.is_kept)
        return found

    @cached_property
    def tensors(self) -> Keys:
        """The tensors that kept ops read and made, in any order."""
        parts = []
        for op, _, tensor in (self.ops.inputs, self.ops.outputs):
            parts.append(tensor[self.is_kept[op]])
        found: Keys = np.unique(np.concatenate(parts))
        return found

    def has_time(self, times_ns: Iterable[int]) -> Mask:
        """Tell which moments lie between kept ops, by ``perf_counter_ns``."""
        starts_ns = self.ops.column(OpCell.START)
        return is_of_kept(np.fromiter(times_ns, np.int64), starts_ns, self.is_kept)


def is_of_kept(keys: Keys, used: Keys, is_kept: Mask) -> Mask:
    """Tell which keys were given while kept ops ran.

    What nobody uses has no op, but keys count upwards: such a key came before the first op that
    used a higher one.

    Parameters
    ----------
    keys
        Of scopes, say, in any order.
    used
        Of each op, by time, the highest such key that it uses, -1 for none.
    is_kept
        Whether the op is kept.

    Returns
    -------
    numpy.ndarray
        Keys higher than all that ops used are told kept.
    """
    position = np.searchsorted(np.maximum.accumulate(used), keys) if len(used) else keys * 0
    return np.append(is_kept, True)[position]
