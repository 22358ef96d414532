"""``trace.tensors`` and an op's inputs and outputs: tensor values as row objects."""

from __future__ import annotations

import re

from paddle_lab.analysis.tables import cells
from paddle_lab.analysis.tables.rows import RecordRow, RowTable
from paddle_lab.trace.schema import TENSOR_KINDS

_EXTENT = re.compile(r"-?\d{1,18}")


def parse_shape(shape: str) -> tuple[int, ...]:
    """Return the extents in a shape's text: ``(4, 2, 3)`` for ``"[4, 2, 3]"``."""
    return tuple(int(extent) for extent in _EXTENT.findall(shape))


def extents() -> cells.Cell[tuple[int, ...]]:
    """Return a property that is a shape."""
    return cells.Cell(
        lambda record, code: parse_shape(record.text(code)), doc="Extents, outermost first."
    )


class Tensor(RecordRow):
    """One value of a tensor: a view of its row."""

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


class TensorTable(RowTable[Tensor]):
    """The tensor values of a trace, in the order in which the trace first saw them."""

    _table_name = "tensors"

    def _row(self, key: int) -> Tensor:
        return Tensor(self.record, key)

    def __repr__(self) -> str:
        return f"<{len(self):,} tensors>"
