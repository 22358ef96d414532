"""Statistics of every tensor, taken when an op has made it or when the trace first meets it.

Each row of ``tensors`` is one value, so one look per row is enough. No op of Paddle runs: values
are read from memory. Undefined tensors are never read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_lab.capture.backward_graph.graphs import flat
from paddle_lab.capture.evidence.collector import Collector, Forgotten
from paddle_lab.capture.evidence.values.statistics import (
    Statistics,
    statistic_cells,
    statistics_of,
)
from paddle_lab.capture.rows.cells import NO_KEY
from paddle_lab.capture.tables.row_keys import RecordKeys
from paddle_lab.trace.table import StringPool, TableBuilder

if TYPE_CHECKING:
    from paddle_lab.capture.recorder.recorder import Recorder


class Values(Collector):
    """The collector behind ``value_stats``.

    Parameters
    ----------
    recorder
        The recorder whose tensors are looked at.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._tensors = recorder.tensors
        self._rows: list[tuple[int, Statistics]] = []

    def open(self) -> None:
        """Look at the results of ops and at tensors that the trace meets, from now on."""
        self._recorder.on_op = self._on_op
        self._tensors.meeting_listeners.append(self._look)
        self._tensors.change_listeners.append(self._look)

    def close(self) -> None:
        """Stop looking."""
        self._recorder.on_op = None
        for listeners in (self._tensors.meeting_listeners, self._tensors.change_listeners):
            if self._look in listeners:
                listeners.remove(self._look)

    def _on_op(self, _op: int, result: Any) -> None:
        for value in flat(result):
            if isinstance(value, self._recorder.tensor_type):
                self._look(value, self._tensors.known_key(value))

    def _look(self, tensor: Any, key: int) -> None:
        if key == NO_KEY:  # undefined: its row cannot be found again
            return
        statistics = statistics_of(tensor)
        if statistics is not None:
            self._rows.append((key, statistics))

    def forget(self, gone: Forgotten) -> None:
        """Forget the statistics of tensors that were trimmed."""
        self._rows = [row for row in self._rows if row[0] not in gone.tensors]

    def add_rows(
        self, builders: dict[str, TableBuilder], _strings: StringPool, keys: RecordKeys
    ) -> None:
        """Fill ``value_stats``, by tensor; rows of one tensor are in the order of recording."""
        self._rows.sort(key=lambda row: row[0])
        tensors = keys.tensors.rows(np.array([key for key, _ in self._rows], np.int64)).tolist()
        cells = statistic_cells([statistics for _, statistics in self._rows])
        for tensor, numbers in zip(tensors, cells, strict=True):
            builders["value_stats"].append(tensor, *numbers)
