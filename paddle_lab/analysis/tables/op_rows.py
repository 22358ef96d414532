"""Rows that belong to an op, or to a grad node that an op made."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.source.stacks import Frame, Placed
from paddle_lab.analysis.tables.data_frames import Framed
from paddle_lab.analysis.tables.ops import Op, OpTable
from paddle_lab.analysis.tables.rows import RecordRow, RowTable
from paddle_lab.analysis.tables.text_table import Reported
from paddle_lab.trace.trees import Keys, taken

RowT = TypeVar("RowT")


class OpRow(RecordRow, Placed):
    """A row that belongs to an op, or to a grad node."""

    __slots__ = ("_table",)

    def __init__(self, table: Any, key: int) -> None:
        super().__init__(table.record, key)
        self._table = table

    @property
    def op(self) -> Op | None:
        """The op of the row; for a grad node, the op that made the node. None if unknown."""
        op = int(self._table.op_keys[self.key])
        return self._table.ops[op] if op >= 0 else None

    @property
    def layer(self) -> str:
        """The path of the op's innermost layer, ``""`` outside of layers."""
        return self.op.layer if self.op else ""

    @property
    def frame(self) -> Frame | None:
        """The innermost frame of the user's code that called the op."""
        return self.op.frame if self.op else None


class OpRowTable(Reported, Framed, RowTable[RowT]):
    """A table of rows that belong to ops or grad nodes."""

    _row_type: ClassVar[type[OpRow]]

    def _row(self, key: int) -> Any:
        return self._row_type(self, key)

    @cached_property
    def ops(self) -> OpTable:
        """The trace's ops."""
        return OpTable(self.record)

    @cached_property
    def op_keys(self) -> Keys:
        """For each row of the record's table: its op, or the op that made its grad node; or -1."""
        rows = self.record.tables[self._table_name]
        makers = taken(self.record.grad_nodes["op"], rows["grad_node"])
        return np.where(rows["op"] < 0, makers, rows["op"]).astype(np.int32)

    def names(self, keys: Keys) -> npt.NDArray[np.object_]:
        """Return the name of the grad node or op of each row, ``""`` if it has neither."""
        record, rows = self.record, self.record.tables[self._table_name]
        op, node = rows["op"][keys], rows["grad_node"][keys]
        codes = np.where(
            node >= 0, taken(record.grad_nodes["name"], node), taken(record.ops["name"], op)
        )
        found: npt.NDArray[np.object_] = np.array([*record.strings, ""], object)[codes]
        return found
