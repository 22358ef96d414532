"""The ops that a trace keeps, and rows of other tables that belong to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.limit.step_choice import Span
from paddle_lab.capture.rows.cells import OpCell
from paddle_lab.capture.tables.op_columns import OpRows

Keys = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class KeptOps:
    """The ops that a trace keeps. Tells which other rows are kept with them.

    Parameters
    ----------
    ops
        All recorded ops.
    spans
        The ops to keep, as ascending spans of keys.
    """

    def __init__(self, ops: OpRows, spans: Sequence[Span]) -> None:
        self.ops = ops
        self._firsts, self._ends = np.array(spans, np.int64).T
        self.is_kept = self._is_inside(ops.keys)
        self.keys: Keys = ops.keys[self.is_kept]
        self.forgotten: Keys = ops.keys[~self.is_kept]

    def is_between(self, op_counts: Iterable[int]) -> Mask:
        """Tell which moments are next to a kept op. A moment is the number of ops called so far."""
        counts = np.fromiter(op_counts, np.int64)
        return self._is_inside(counts) | self._is_inside(counts - 1)

    def is_after(self, op_counts: Iterable[int]) -> Mask:
        """Tell which moments are directly after a kept op. A moment is the number of ops so far."""
        return self._is_inside(np.maximum(np.fromiter(op_counts, np.int64) - 1, 0))

    def has_time(self, times_ns: Iterable[int]) -> Mask:
        """Tell which times of ``perf_counter_ns`` are between kept ops."""
        starts_ns = self.ops.column(OpCell.START)
        return self.keeps(np.fromiter(times_ns, np.int64), np.arange(len(starts_ns)), starts_ns)

    def keeps(self, keys: Keys, op: Keys, used: Keys) -> Mask:
        """Tell which rows of another table are kept.

        A row is kept if a kept op uses it or ran when the row began. Keys ascend with time: a row
        that no op uses began before the first op that uses a higher key.

        Parameters
        ----------
        keys
            The rows' keys, in any order.
        op, used
            Pairs of an op, by its position among all ops, and a key that it uses.

        Returns
        -------
        numpy.ndarray
            Whether each row is kept. Rows with higher keys than all used ones are kept.
        """
        highest = np.full(len(self.is_kept), -1)
        np.maximum.at(highest, op, used)
        next_op = np.searchsorted(np.maximum.accumulate(highest), keys)
        found: Mask = np.append(self.is_kept, True)[next_op]
        return found | np.isin(keys, used[self.is_kept[op]])

    def _is_inside(self, keys: Keys) -> Mask:
        span = np.searchsorted(self._firsts, keys, side="right") - 1
        found: Mask = (span >= 0) & (keys < self._ends[span])
        return found
