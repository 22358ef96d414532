"""``trace.tensors`` and an op's inputs and outputs: tensor values as row objects."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.memory.sizes import size_text
from paddle_lab.analysis.tables import cells
from paddle_lab.analysis.tables.columns import Values, optional
from paddle_lab.analysis.tables.data_frames import Framed
from paddle_lab.analysis.tables.rows import RecordRow, RowTable
from paddle_lab.analysis.tables.text_table import ROWS_SHOWN, Report, Reported, header
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import TENSOR_KINDS
from paddle_lab.words import say

_EXTENT = re.compile(r"-?\d{1,18}")


def parse_shape(shape: str) -> tuple[int, ...]:
    """Parse the text of a shape: ``"[4, 2, 3]"`` becomes ``(4, 2, 3)``."""
    return tuple(int(extent) for extent in _EXTENT.findall(shape))


def extents() -> cells.Cell[tuple[int, ...]]:
    """Return a property whose value is a shape."""
    return cells.Cell(
        lambda record, code: parse_shape(record.text(code)), doc="Extents, outermost first."
    )


class Tensor(RecordRow):
    """A value of a tensor. It reads its data from a row of the table."""

    __slots__ = ()
    _table_name = "tensors"

    name = cells.text(doc='Paddle\'s name: ``"linear_0.w_0"``, ``""`` where it had none.')
    path = cells.text(doc='Path of a layer\'s parameter or buffer, ``""`` for other tensors.')
    dtype = cells.text(doc='``"float32"``.')
    shape = extents()
    place = cells.text(doc='``"cpu"``, ``"gpu:0"``.')
    stop_gradient = cells.flag(doc="Whether no gradient flows to it.")
    bytes = cells.number(doc="Size of its elements.")
    version = cells.number(doc="How often it had been modified in place.")
    kind = cells.choice(
        TENSOR_KINDS,
        doc='``"activation"``, ``"parameter"``, ``"buffer"``, ``"gradient"`` or ``"external"``.',
    )
    producer = cells.optional(
        doc="Key of the op that made this value; None where the trace saw none."
    )

    def __str__(self) -> str:
        label = self.path or self.name
        return f"{label} {self.dtype} {list(self.shape)}".strip()

    def __repr__(self) -> str:
        return f"<Tensor {self.key}: {self}, {self.kind}>"


def tensor_texts(record: Record, keys: npt.NDArray[Any]) -> list[str]:
    """Return the same as ``str(tensor)`` for many tensors."""
    path, name, dtype, shape = (
        record.tensors[column][keys].tolist() for column in ("path", "name", "dtype", "shape")
    )
    texts, shapes = (
        record.strings,
        {code: str(list(parse_shape(record.text(code)))) for code in {*shape}},
    )
    return [
        f"{texts[path_] or texts[name_]} {texts[dtype_]} {shapes[shape_]}".strip()
        for path_, name_, dtype_, shape_ in zip(path, name, dtype, shape, strict=True)
    ]


class TensorTable(Reported, Framed, RowTable[Tensor]):
    """The tensor values of a trace, in the order in which the trace first saw them."""

    _table_name = "tensors"
    _index = "tensor"

    def _columns(self) -> dict[str, Values]:
        table, texts = self.record.tensors, np.array(self.record.strings, object)
        cells = {name: column[self.keys] for name, column in table.columns.items()}
        named = {name: texts[cells[name]] for name in ("name", "path", "dtype", "shape", "place")}
        return {
            "tensor": self.keys,
            **named,
            "stop_gradient": cells["stop_gradient"] == 1,
            "bytes": cells["bytes"],
            "version": cells["version"],
            "kind": np.array(TENSOR_KINDS, object)[cells["kind"]],
            "producer": optional(cells["producer"]),
        }

    def _row(self, key: int) -> Tensor:
        return Tensor(self.record, key)

    def _report(self) -> Report:
        rows = [
            (
                str(row.key),
                row.path or row.name,
                str(list(row.shape)),
                row.dtype,
                size_text(row.bytes),
                say(f"page.tensor_kind.{row.kind}"),
                "" if row.producer is None else str(row.producer),
            )
            for row in self[:ROWS_SHOWN]
        ]
        size, kind = header("memory", "size", "kind")
        value, name, shape, dtype, op = header("reports", "value", "name", "shape", "dtype", "op")
        names = (value, name, shape, dtype, size, kind, op)
        return Report(say("reports.values", n=len(self)), names, rows, (0, 4, 6), len(self))
