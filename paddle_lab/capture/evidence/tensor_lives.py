"""How long tensors live: looked at now and then while the traced code runs.

What is alive at the end of a trace may be nothing: a function has returned, a namespace is gone.
So the living are counted at moments that come once a step and cost Python time anyway: when
backward or an optimizer's step begins, when gradients are switched off or on. The first moments are
all looked at, later ones ever more rarely, so that a long training pays as little as a short one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paddle_lab.capture.recorder.recorder import Recorder
    from paddle_lab.capture.tables.row_keys import RecordKeys
    from paddle_lab.trace.table import TableBuilder

_ALL_UP_TO = 32
_RARER_BY = 1.25
_MANY = 20_000
"""With more tensors alive than this, a look is felt."""


class TensorLives:
    """Until when each tensor of one trace was seen alive.

    Parameters
    ----------
    recorder
        Whose tensors and ops are meant.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._moments = 0
        self._next_look = 1
        self._seen = np.empty((2, 0), np.int64)
        """Rows of ``tensors``, and how many ops had a key when each was last seen alive."""

    def look(self) -> None:
        """Note which tensors are alive, if this moment is one to look."""
        self._moments += 1
        if self._moments < self._next_look:
            return
        living = self._recorder.tensors.living_keys()
        op_keys = np.full(len(living), self._recorder.next_op.next)
        dead = self._seen[:, ~np.isin(self._seen[0], living)]
        self._seen = np.concatenate((dead, np.stack((living, op_keys))), axis=1)
        is_cheap = self._moments < _ALL_UP_TO and len(living) < _MANY
        self._next_look = self._moments + 1 if is_cheap else math.ceil(self._moments * _RARER_BY)

    def forget(self, tensors: Iterable[int]) -> None:
        """Forget tensors."""
        gone = np.fromiter(tensors, np.int64)
        self._seen = self._seen[:, ~np.isin(self._seen[0], gone)]

    def add_rows(self, builder: TableBuilder, keys: RecordKeys) -> None:
        """Fill ``tensor_lives``."""
        tensor, op_keys = self._seen[:, np.argsort(self._seen[0])]
        tensors = keys.tensors.rows(tensor)
        rows = np.stack((tensors, keys.ops.counts_before(op_keys)), axis=1)
        builder.append_cells(rows[tensors >= 0].ravel().tolist())
