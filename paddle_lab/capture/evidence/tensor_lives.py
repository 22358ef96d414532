"""Samples which tensors are alive while the traced code runs.

When a trace ends, its tensors may be freed already, for example because a function returned. So the
living tensors are recorded when backward or an optimizer step begins, and when gradients are
switched off or on. This happens about once in a training step, and these calls take time anyway.
The first such moments are all used, later ones less and less often, so that a long training does
not become slow.
"""

from __future__ import annotations

import math
from _thread import allocate_lock
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paddle_lab.capture.recorder.tensors import TensorPool
    from paddle_lab.capture.rows.counter import Counter
    from paddle_lab.capture.tables.row_keys import RecordKeys
    from paddle_lab.trace.table import TableBuilder

Keys = npt.NDArray[np.int64]

_ALL_UP_TO = 32
_RARER_BY = 1.25
_MANY = 20_000
"""If more tensors than this are alive, noting them takes a noticeable time."""


class TensorLives:
    """The last moment at which each tensor of a trace was seen alive.

    Parameters
    ----------
    tensors
        The tensors that the trace has seen.
    next_op
        The counter of ops.
    """

    def __init__(self, tensors: TensorPool, next_op: Counter) -> None:
        self._tensors, self._next_op = tensors, next_op
        self._moments = 0
        self._next_look = 1
        self._is_free = allocate_lock()
        self._living = np.empty(0, np.int64)
        """The rows of ``tensors`` that were alive at the last look."""
        self._last_look = 0
        """How many ops had a key when the living tensors were last noted."""
        self._dead = [np.empty((2, 0), np.int64)]
        """The rows of dead tensors, and how many ops had a key when the tensors were last alive."""

    def look(self) -> None:
        """Record which tensors are alive, unless the last time was too recent."""
        self._moments += 1
        if self._moments < self._next_look:
            return
        if not self._is_free.acquire(blocking=False):
            return  # another thread is looking
        try:
            self._note(self._tensors.living_keys())
        finally:
            self._is_free.release()

    def _note(self, living: Keys) -> None:
        # Both arrays are sorted, so use a binary search. ``np.isin`` would make a table of all
        # keys.
        at = np.searchsorted(living, self._living)
        dead = self._living[np.append(living, -1)[at] != self._living]
        self._dead.append(np.stack((dead, np.full(len(dead), self._last_look))))
        self._living, self._last_look = living, self._next_op.next
        is_cheap = self._moments < _ALL_UP_TO and len(living) < _MANY
        self._next_look = self._moments + 1 if is_cheap else math.ceil(self._moments * _RARER_BY)

    def forget(self, tensors: Iterable[int]) -> None:
        """Drop tensors."""
        gone = np.fromiter(tensors, np.int64)
        self._living = self._living[~np.isin(self._living, gone)]
        dead = np.concatenate(self._dead, axis=1)
        self._dead = [dead[:, ~np.isin(dead[0], gone)]]

    def add_rows(self, builder: TableBuilder, keys: RecordKeys) -> None:
        """Fill ``tensor_lives``."""
        living = np.stack((self._living, np.full(len(self._living), self._last_look)))
        seen = np.concatenate((*self._dead, living), axis=1)
        tensor, op_keys = seen[:, np.argsort(seen[0])]
        tensors = keys.tensors.rows(tensor)
        rows = np.stack((tensors, keys.ops.counts_before(op_keys)), axis=1)
        builder.append_cells(rows[tensors >= 0].ravel().tolist())
