"""``trace.values``: statistics of the values of tensors, as rows and as a table."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from paddle_lab.analysis.tables import cells
from paddle_lab.analysis.tables.columns import Partial, Values
from paddle_lab.analysis.tables.statistics import Measured, MeasuredTable
from paddle_lab.analysis.tables.tensors import Tensor, parse_shape
from paddle_lab.analysis.tables.text_table import ROWS_SHOWN, Report, header
from paddle_lab.trace.floats import from_bits
from paddle_lab.trace.trees import Keys, taken
from paddle_lab.words import say

_COUNTS = ("elements", "zeros", "nans", "infs")
_REALS = ("smallest", "largest", "mean", "deviation", "norm")


class Value(Measured):
    """The values of a tensor, after its op had made it or when the trace first saw it.

    It reads its data from a row of ``value_stats``.
    """

    __slots__ = ()
    _table_name = "value_stats"

    tensor = cells.Cell(Tensor, doc="The tensor value that it describes.")

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the tensor, the outermost first."""
        return self.tensor.shape

    @property
    def dtype(self) -> str:
        """The dtype of the tensor, such as ``"float32"``."""
        return self.tensor.dtype

    @property
    def path(self) -> str:
        """The path of a layer's parameter or buffer, ``""`` for other tensors."""
        return self.tensor.path

    @property
    def deviation(self) -> float | None:
        """Population standard deviation of the finite values, as ``numpy.std`` computes it.

        It is None if only a check examined the tensor, without ``values=``.
        """
        deviation = float(self._table.deviations[self.key])
        return None if np.isnan(deviation) else deviation

    @property
    def op_name(self) -> str:
        """The name of the op that made the tensor, ``""`` if no op did."""
        return self.op.name if self.op else ""

    def __repr__(self) -> str:
        what = self.op_name or self.tensor.path or self.tensor.kind
        numbers = f"{self.shown(self.smallest)} … {self.shown(self.largest)}"
        return f"<Value {self.key}: {what} {list(self.shape)}, {numbers}>"


class ValueTable(MeasuredTable[Value]):
    """The values of the tensors, in the order in which the trace first saw them."""

    _table_name = "value_stats"
    _index = "value"
    _row_type = Value

    @cached_property
    def op_keys(self) -> Keys:
        """For each row: the op that made the tensor; -1 if no op did."""
        return taken(self.record.tensors["producer"], self.record.value_stats["tensor"])

    @cached_property
    def deviations(self) -> Any:
        """Standard deviations, float32, shape ``[rows of value_stats]``; NaN for unknown ones."""
        known = self.record.value_deviations
        deviations = np.full(len(self.record.value_stats), np.nan, np.float32)
        deviations[known["value_stat"]] = from_bits(known["deviation"])
        return deviations

    @property
    def worst(self) -> ValueTable:
        """The same rows, sorted: first those with NaN or Inf, then by falling magnitude."""
        stats = self.record.value_stats
        is_bad = (stats["nans"][self.keys] > 0) | (stats["infs"][self.keys] > 0)
        ends = [np.abs(from_bits(stats[name][self.keys])) for name in ("smallest", "largest")]
        magnitude = np.where(is_bad, 0, np.maximum(*ends))
        return self._with_keys(self.keys[np.lexsort((-magnitude, ~is_bad))])

    def _columns(self) -> dict[str, Values]:
        record, stats, tensors = self.record, self.record.value_stats, self.record.tensors
        texts = np.array([*record.strings, ""], object)
        tensor = stats["tensor"][self.keys]
        op = self.op_keys[self.keys]
        layer = self.ops.layers[taken(record.ops["scope"], op)]
        frame = taken(record.stack_frames["frame"], taken(record.ops["stack"], op))
        shapes, of_shape = np.unique(tensors["shape"][tensor], return_inverse=True)
        extents = [parse_shape(texts[code]) for code in shapes.tolist()]
        reals = {
            name: (self.deviations if name == "deviation" else from_bits(stats[name]))[
                self.keys
            ].astype(np.float64)
            for name in _REALS
        }
        return {
            "value": self.keys,
            "op": texts[taken(record.ops["name"], op)],
            "layer": texts[taken(record.layer_names["name"], layer)],
            "path": texts[tensors["path"][tensor]],
            "file": texts[taken(record.frames["file"], frame)],
            "line": np.maximum(taken(record.frames["line"], frame), 0),
            "shape": [extents[at] for at in of_shape.tolist()],
            "dtype": texts[tensors["dtype"][tensor]],
            **{name: stats[name][self.keys] for name in _COUNTS},
            **{name: Partial(reals[name], np.isnan(reals[name])) for name in _REALS},
        }

    def _report(self) -> Report:
        if not len(self.record.value_stats):
            return Report(say("reports.no_values"))
        names = header(
            "reports", "value", "op", "layer", "shape", "dtype", "min", "max", "mean", "deviation",
            "zeros", "NaN", "Inf", "line",
        )  # fmt: skip
        rows = [
            (
                str(row.key),
                row.op_name or row.path or row.tensor.kind,
                row.layer,
                str(list(row.shape)),
                row.dtype,
                row.shown(row.smallest),
                row.shown(row.largest),
                row.shown(row.mean),
                row.shown(row.deviation),
                f"{row.zero_share:.0%}",
                f"{row.nans:,}",
                f"{row.infs:,}",
                row.where,
            )
            for row in self[:ROWS_SHOWN]
        ]
        numbers = (0, 5, 6, 7, 8, 9, 10, 11)
        return Report(say("reports.values", n=len(self)), names, rows, numbers, len(self))
