"""The record of a comparison: the ops of trace b, and between them the ops only in trace a.

Everything else is trace b's. An op that is only in trace a comes with its outputs, its layer, its
calls and its lines. Its inputs are the matching tensors of trace b, where there are any.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.source.stacks import Frame
from paddle_lab.comparison.compared import Compared
from paddle_lab.trace.floats import float_bits
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import RECORD_TABLES, SCOPE_KINDS
from paddle_lab.trace.table import StringPool, Table

_TURN = SCOPE_KINDS.index("turn")
_UNKNOWN = float("nan")

Cells = dict[str, int]


def union(found: Compared) -> Record:
    """Return the record that shows both traces, with the table ``compared``."""
    return _Union(found).record()


class _Union:
    def __init__(self, found: Compared) -> None:
        self._found = found
        self._a, self._b = found.a.record, found.b.record
        self._strings = StringPool(self._b.strings)
        self._codes = self._strings.codes(self._a.strings)
        self._row_of_a = _rows_of(found.op_a, len(self._a.ops))
        self._row_of_b = _rows_of(found.op_b, len(self._b.ops))
        self._added: dict[str, list[Cells]] = {}
        self._copies: dict[tuple[str, int], int] = {}
        self._only_a = np.flatnonzero(found.op_b < 0).tolist()

    def record(self) -> Record:
        lone = [int(self._found.op_a[row]) for row in self._only_a]
        if lone:
            self._match_scopes()
            self._match_tensors()
        ops = [self._cells("ops", op, scope=self._scope, stack=self._stack) for op in lone]
        for op in lone:
            self._add_uses(op)
        tables = {name: self._table(name) for name in RECORD_TABLES}
        tables["ops"] = self._ops(ops)
        uses = tables["uses"]
        order = np.argsort(uses["op"], kind="stable")
        tables["uses"] = Table({name: column[order] for name, column in uses.columns.items()})
        tables["compared"] = self._compared()
        origin = replace(self._b.origin, checks=[], notices=[])
        return Record(tables, self._strings.to_list(), origin)

    def _ops(self, lone: list[Cells]) -> Table:
        columns = {}
        for name, column in self._b.ops.columns.items():
            cells = np.empty(len(self._found.op_b), column.dtype)
            is_b = self._found.op_b >= 0
            cells[is_b] = column
            cells[~is_b] = [row[name] for row in lone]
            columns[name] = cells
        return Table(columns)

    def _table(self, name: str) -> Table:
        """Return trace b's table with the keys of ops in the union, and the added rows."""
        added = self._added.get(name, [])
        columns = {}
        for column, kind in RECORD_TABLES[name].items():
            cells = self._b.tables[name][column]
            if kind == "key:ops":
                cells = np.append(self._row_of_b, np.int32(-1))[cells]
            elif column == "ops_before":
                # -1 for ops that the trace did not keep
                cells = np.append(self._row_of_b, [len(self._found.op_b), -1])[cells]
            new = np.array([row[column] for row in added], np.int64)
            dtype = self._b.tables[name][column].dtype
            columns[column] = np.concatenate((cells, new)).astype(dtype)
        return Table(columns)

    def _compared(self) -> Table:
        found = self._found
        count = len(found.op_b)
        errors = {name: np.full(count, _UNKNOWN) for name in ("max_abs", "max_rel", "cosine")}
        ulp = np.full(count, -1, np.int64)
        for row, known in found.errors.items():
            for name, column in errors.items():
                column[row] = getattr(known, name)
            ulp[row] = known.ulp
        columns: dict[str, Any] = {
            "op": np.arange(count),
            "state": found.state,
            "origin": found.origin,
            **{name: float_bits(column.tolist()) for name, column in errors.items()},
            "ulp": ulp,
            "other": self._strings.codes(self._others()),
            "reason": self._strings.codes(found.reason),
        }
        return Table.from_sequences(RECORD_TABLES["compared"], columns)

    def _others(self) -> list[str]:
        record = self._a
        names = [record.text(code) for code in record.ops["name"].tolist()]
        frames = record.stack_frames["frame"]
        stacks = record.ops["stack"].tolist()
        places: dict[int, str] = {-1: ""}
        texts = []
        for op in self._found.op_a.tolist():
            frame = int(frames[stacks[op]]) if op >= 0 and stacks[op] >= 0 else -1
            if frame not in places:
                at = Frame(record, frame)
                places[frame] = f"{at.where}: {at.text}" if at.text else at.where
            texts.append(" · ".join(filter(None, (names[op], places[frame]))) if op >= 0 else "")
        return texts

    def _cells(self, name: str, row: int, **columns: Any) -> Cells:
        """Return trace a's row for the union. ``columns`` convert keys; other keys are -1."""
        cells: Cells = {}
        for column, kind in RECORD_TABLES[name].items():
            value = int(self._a.tables[name][column][row])
            if column in columns:
                value = columns[column](value)
            elif kind == "str":
                value = self._codes[value]
            elif kind.startswith("key:"):
                value = -1
            cells[column] = value
        return cells

    def _copied(self, name: str, row: int, **columns: Any) -> int:
        """Return the row of the union's table that has a row of trace a."""
        if row < 0:
            return -1
        key = self._copies.get((name, row))
        if key is None:
            cells = self._cells(name, row, **columns)
            rows = self._added.setdefault(name, [])
            rows.append(cells)
            key = self._copies[name, row] = len(self._b.tables[name]) + len(rows) - 1
        return key

    def _stack(self, stack: int) -> int:
        chain = []
        while stack >= 0:
            chain.append(stack)
            stack = int(self._a.stacks["caller"][stack])
        above = -1
        for row in reversed(chain):
            caller = above
            above = self._copied("stacks", row, frame=self._frame, caller=lambda _, to=caller: to)
        return above

    def _frame(self, frame: int) -> int:
        sources, frames = self._a.sources, self._a.frames
        known = {(self._b.text(int(file)), int(cell)) for file, cell in self._places_b()}
        file = int(frames["file"][frame]), int(frames["cell"][frame])
        if (self._a.text(file[0]), file[1]) not in known:
            is_own = (sources["file"] == file[0]) & (sources["cell"] == file[1])
            for row in np.flatnonzero(is_own).tolist():
                self._copied("sources", row)
        return self._copied("frames", frame)

    def _places_b(self) -> Any:
        sources = self._b.sources
        return zip(sources["file"].tolist(), sources["cell"].tolist(), strict=True)

    def _match_scopes(self) -> None:
        """Note which scopes of the two traces correspond: the scopes of matched ops."""
        a, b, found = self._a, self._b, self._found
        rows = (found.op_a >= 0) & (found.op_b >= 0)
        pairs = np.stack((a.ops["scope"][found.op_a[rows]], b.ops["scope"][found.op_b[rows]]))
        for one, two in np.unique(pairs, axis=1).T.tolist():
            at = one, two
            while min(at) >= 0 and ("scopes", at[0]) not in self._copies:
                if a.scopes["kind"][at[0]] != b.scopes["kind"][at[1]]:
                    break
                self._copies["scopes", at[0]] = at[1]
                at = int(a.scopes["parent"][at[0]]), int(b.scopes["parent"][at[1]])

    def _scope(self, scope: int) -> int:
        chain = []
        while scope >= 0 and ("scopes", scope) not in self._copies:
            chain.append(scope)
            scope = int(self._a.scopes["parent"][scope])
        above = self._copies[("scopes", scope)] if scope >= 0 else -1
        for row in reversed(chain):
            parent = above
            above = self._copied("scopes", row, parent=lambda _, to=parent: to, layer=self._layer)
            if self._a.scopes["kind"][row] == _TURN:
                for turn in np.flatnonzero(self._a.turns["scope"] == row).tolist():
                    key = above
                    self._copied("turns", turn, scope=lambda _, to=key: to, loop=self._loop)
        return above

    def _loop(self, loop: int) -> int:
        return self._copied("loops", loop)

    def _layer(self, layer: int) -> int:
        return self._copied("layers", layer, parent=lambda _: -1)

    def _match_tensors(self) -> None:
        """Note which tensors of the two traces correspond: outputs and inputs of matched ops."""
        a, b, found = self._found.a, self._found.b, self._found
        pairs = (found.op_a >= 0) & (found.op_b >= 0)
        # Only the tensors that an op of trace a reads are needed.
        lone = [int(found.op_a[row]) for row in self._only_a]
        wanted = {tensor for op in lone for tensor in a.tensors_of(op, "input")}
        uses = a.record.uses
        using = np.unique(uses["op"][np.isin(uses["tensor"], [*wanted])])
        partner = _partners(found.op_a[pairs], found.op_b[pairs], len(a))
        for op in using[using >= 0].tolist():
            if partner[op] >= 0:
                for role in ("output", "input"):
                    known = zip(a.tensors_of(op, role), b.tensors_of(int(partner[op]), role),
                                strict=False)  # fmt: skip
                    for one, two in known:
                        if one >= 0 and two >= 0:
                            self._copies.setdefault(("tensors", one), two)

    def _tensor(self, tensor: int) -> int:
        return self._copied("tensors", tensor, producer=self._producer)

    def _producer(self, op: int) -> int:
        # A matched op made this tensor in trace a only, so in the union no op made it.
        row = int(self._row_of_a[op]) if op >= 0 else -1
        return row if row >= 0 and self._found.op_b[row] < 0 else -1

    def _add_uses(self, op: int) -> None:
        starts, order = self._found.a.uses
        in_union = int(self._row_of_a[op])
        for use in order[starts[op] : starts[op + 1]].tolist():
            row = self._cells("uses", use, tensor=self._tensor, op=lambda _: in_union)
            self._added.setdefault("uses", []).append(row)


def _rows_of(ops: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int32]:
    """Return the row of each op."""
    rows = np.full(count, -1, np.int32)
    there = np.flatnonzero(ops >= 0)
    rows[ops[there]] = there
    return rows


def _partners(
    ops: npt.NDArray[np.int64], others: npt.NDArray[np.int64], count: int
) -> npt.NDArray[np.int64]:
    found = np.full(count, -1, np.int64)
    found[ops] = others
    return found
