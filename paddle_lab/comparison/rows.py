"""``comparison.rows``: the compared ops as rows and as a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from typing_extensions import Self

from paddle_lab.analysis.source.stacks import Frame, Placed
from paddle_lab.analysis.tables import cells
from paddle_lab.analysis.tables.columns import Partial, Values
from paddle_lab.analysis.tables.data_frames import Framed
from paddle_lab.analysis.tables.ops import Op, OpTable
from paddle_lab.analysis.tables.rows import RecordRow, RowTable
from paddle_lab.analysis.tables.text_table import ROWS_SHOWN, Report, Reported, header
from paddle_lab.comparison.compared import Compared
from paddle_lab.trace.floats import from_bits
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import COMPARE_ORIGINS, COMPARE_STATES
from paddle_lab.trace.trees import Keys, taken
from paddle_lab.words import say

_REALS = ("max_abs", "max_rel", "cosine")


class ComparedOp(RecordRow, Placed):
    """One op of both traces, or of one of them."""

    __slots__ = ("_table",)
    _table_name = "compared"

    def __init__(self, table: ComparedTable, key: int) -> None:
        super().__init__(table.record, key)
        self._table = table

    state = cells.choice(
        COMPARE_STATES,
        doc="""``"equal"``, ``"different"``, ``"only_a"``, ``"only_b"`` or ``"unknown"``.

        Unknown: names, shapes, dtypes and attributes are equal, and there are no values to compare.
        """,
    )
    origin = cells.choice(
        COMPARE_ORIGINS,
        doc="""``"introduced"`` if this op made most of the difference, ``"inherited"`` if it came
        with the inputs, ``""`` if it is not known.""",
    )
    reason = cells.text(doc="What differs, in words.")
    max_abs = cells.real(doc="The largest difference of the outputs, NaN if unknown.")
    max_rel = cells.real(doc="The same, divided by the largest magnitude in trace a.")
    cosine = cells.real(doc="Cosine similarity of the outputs, NaN if unknown.")
    ulp = cells.optional(doc="The largest difference in units in the last place, None if unknown.")

    @property
    def a(self) -> Op | None:
        """The op of trace a, a row of its ``ops``."""
        return self._table.op("a", self.key)

    @property
    def b(self) -> Op | None:
        """The op of trace b, a row of its ``ops``."""
        return self._table.op("b", self.key)

    @property
    def name(self) -> str:
        """Paddle's name of the op in trace b, or in trace a if it is only there."""
        op = self.b or self.a
        return op.name if op else ""

    @property
    def frame(self) -> Frame | None:
        """The line of trace b's op, or of trace a's if it is only there."""
        op = self.b or self.a
        return op.frame if op else None

    def __repr__(self) -> str:
        return f"<ComparedOp {self.key}: {self.name}, {self.state}, {self.where}>"


class ComparedTable(Reported, Framed, RowTable[ComparedOp]):
    """The ops of two traces, in the order of trace b.

    Parameters
    ----------
    record
        The record of the comparison, with answer tables.
    found
        The comparison.
    keys
        Which rows; all by default.
    """

    _table_name = "compared"

    def __init__(self, record: Record, found: Compared, keys: Keys | None = None) -> None:
        super().__init__(record, keys)
        self._found = found
        self._tables = {"a": OpTable(found.a.record), "b": OpTable(found.b.record)}

    def _with_keys(self, keys: Keys) -> Self:
        return type(self)(self.record, self._found, keys)

    def _row(self, key: int) -> ComparedOp:
        return ComparedOp(self, key)

    def op(self, side: str, row: int) -> Op | None:
        """Return the op of trace a or b in a row."""
        key = int((self._found.op_a if side == "a" else self._found.op_b)[row])
        return self._tables[side][key] if key >= 0 else None

    def _columns(self) -> dict[str, Values]:
        record, keys, found = self.record, self.keys, self._found
        table = {name: column[keys] for name, column in record.compared.columns.items()}
        texts = np.array([*record.strings, ""], object)
        ops = {name: column[keys] for name, column in record.ops.columns.items()}
        frame = taken(record.stack_frames["frame"], ops["stack"])
        layers = OpTable(record).layers[ops["scope"]]
        reals: dict[str, Any] = {name: from_bits(table[name]) for name in _REALS}
        return {
            "a": Partial(found.op_a[keys], found.op_a[keys] < 0),
            "b": Partial(found.op_b[keys], found.op_b[keys] < 0),
            "name": texts[ops["name"]],
            "layer": texts[taken(record.layer_names["name"], layers)],
            "state": np.array(COMPARE_STATES, object)[table["state"]],
            "origin": np.array(COMPARE_ORIGINS, object)[table["origin"]],
            "reason": texts[table["reason"]],
            "file": texts[taken(record.frames["file"], frame)],
            "line": np.maximum(taken(record.frames["line"], frame), 0),
            "other": texts[table["other"]],
            **{name: Partial(value, np.isnan(value)) for name, value in reals.items()},
            "ulp": Partial(table["ulp"], table["ulp"] < 0),
        }

    def _report(self) -> Report:
        rows = [
            (
                "" if row.a is None else str(row.a.key),
                "" if row.b is None else str(row.b.key),
                row.name,
                say(f"comparison.state.{row.state}"),
                row.reason,
                "" if np.isnan(row.max_abs) else f"{row.max_abs:.3g}",
                row.where,
            )
            for row in self[:ROWS_SHOWN]
        ]
        names = ["a", "b", *header("comparison", "name", "state", "reason", "max_abs", "line")]
        title = say("page.count.op", n=len(self))
        return Report(title, names, rows, (0, 1, 5), row_count=len(self))
