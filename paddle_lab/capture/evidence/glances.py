"""Records statistics of tensors that no op made, such as data, labels and masks.

The statistics are computed when the trace first sees the tensor. They are always on, so they must
be cheap. They cover the first 65,536 values, only tensors in CPU memory, and at most 4,096 tensors
of a trace. Parameters are omitted.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_lab.capture.evidence.collector import Collector, Forgotten
from paddle_lab.capture.evidence.values.memory import bytes_at, digest_at, memory_of
from paddle_lab.capture.evidence.values.scan import KINDS, STORED, scan
from paddle_lab.capture.recorder.faults import described
from paddle_lab.capture.recorder.thread_state import OPTIMIZER
from paddle_lab.capture.rows.cells import NO_KEY
from paddle_lab.capture.tables.row_keys import RecordKeys
from paddle_lab.trace.floats import float_bits
from paddle_lab.trace.table import StringPool, TableBuilder
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.capture.recorder.recorder import Recorder

_MOST_TENSORS = 1 << 12
_FEW = 1 << 12


class Glances(Collector):
    """Fills the table ``glances``.

    Parameters
    ----------
    recorder
        The recorder that reports new tensors.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._rows: list[tuple[Any, ...]] = []
        self._count = 0

    def open(self) -> None:
        """Start to examine each tensor that the trace sees for the first time."""
        self._recorder.tensors.data_listeners.append(self._look)

    def close(self) -> None:
        """Stop examining tensors."""
        listeners = self._recorder.tensors.data_listeners
        if self._look in listeners:
            listeners.remove(self._look)

    def _look(self, tensor: Any, key: int) -> None:
        if key == NO_KEY or self._count >= _MOST_TENSORS:
            return
        try:
            if self._recorder.thread().phase == OPTIMIZER:
                return  # the tensor is a gradient
            place = memory_of(tensor)
            if place is not None:
                self._count += 1
                self._rows.append((key, *_glance(place)))
        except Exception as fault:  # noqa: BLE001  (the trace goes on without this table)
            self._count = _MOST_TENSORS
            self._recorder.notices.append(say("notices.values.failed", fault=described(fault)))

    def forget(self, gone: Forgotten) -> None:
        """Drop tensors that the trace has dropped."""
        self._rows = [row for row in self._rows if row[0] not in gone.tensors]

    def add_rows(
        self, builders: dict[str, TableBuilder], _strings: StringPool, keys: RecordKeys
    ) -> None:
        """Fill the table ``glances``."""
        tensors = keys.tensors.rows(np.array([row[0] for row in self._rows], np.int64)).tolist()
        for tensor, (_, elements, zeros, *floats, is_whole, digest) in zip(
            tensors, self._rows, strict=True
        ):
            cells = (tensor, elements, zeros, *float_bits(floats), is_whole, digest)
            builders["glances"].append(*cells)


def _glance(place: tuple[int, int, int]) -> tuple[Any, ...]:
    address, elements, kind = place
    zeros, _, _, smallest, largest, total, squares, *_ = scan(address, elements, kind, False)  # noqa: FBT003
    stored = bytes_at(address, min(elements, _FEW), kind)
    is_whole = smallest == math.floor(smallest) and largest == math.floor(largest)
    if is_whole and KINDS[kind] in {"float32", "float64", "float16"}:
        values = np.frombuffer(memoryview(stored), STORED[kind])
        is_whole = bool((values == np.floor(values)).all())
    root_mean_square = math.sqrt(squares / elements)
    digest = digest_at(*place)
    return elements, zeros, smallest, largest, total / elements, root_mean_square, is_whole, digest
