"""Writes a record row by row, for sources that are not recorded while ops run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from paddle_lab.trace.record import Origin, Record
from paddle_lab.trace.schema import ENUMERATIONS, RECORD_TABLES, Columns
from paddle_lab.trace.table import StringPool, TableBuilder


class Frame(NamedTuple):
    """A running line of Python code."""

    file: str
    line: int
    function: str
    kind: int
    """Position in :data:`paddle_lab.trace.schema.FRAME_KINDS`."""
    cell: int = -1
    """Execution count of the notebook cell, -1 for a file."""


class _Plan(NamedTuple):
    """How to encode the cells of a row."""

    empty: list[int]
    """A row without cells: -1 for a key and for a cell's number, else 0."""
    columns: dict[str, tuple[int, dict[str, int] | None, bool]]
    """For each column: its position, the members of its enumeration, and whether it is text."""


def _plan(schema: Columns) -> _Plan:
    is_open = [kind.startswith("key:") or name == "cell" for name, kind in schema.items()]
    columns: dict[str, tuple[int, dict[str, int] | None, bool]] = {}
    for at, (name, kind) in enumerate(schema.items()):
        members = ENUMERATIONS.get(kind.partition(":")[2], ()) if kind.startswith("enum:") else ()
        codes = {member: code for code, member in enumerate(members)} or None
        columns[name] = at, codes, kind == "str"
    return _Plan([-1 if one else 0 for one in is_open], columns)


_PLANS: Final = {name: _plan(schema) for name, schema in RECORD_TABLES.items()}


class RowWriter:
    """A record that grows row by row. It encodes texts and members of enumerations."""

    def __init__(self) -> None:
        self._strings = StringPool()
        self.tables = {name: TableBuilder(schema) for name, schema in RECORD_TABLES.items()}
        self._frames: dict[Frame, int] = {}
        self._stacks: dict[tuple[int, int], int] = {}

    def row(self, table: str, **cells: Any) -> int:
        """Append a row and return its key."""
        plan, builder = _PLANS[table], self.tables[table]
        row, columns = plan.empty.copy(), plan.columns
        for name, cell in cells.items():
            at, codes, is_text = columns[name]
            if is_text:
                row[at] = self._strings[cell or ""]
            else:
                row[at] = codes[cell] if codes and cell.__class__ is str else cell
        key = len(builder)
        builder.append_cells(row)
        return key

    def stack(self, frames: Iterable[Frame]) -> int:
        """Return the row of a stack, whose outermost frame comes first; -1 for an empty stack."""
        caller = -1
        for frame in frames:
            if frame not in self._frames:
                cells = frame._asdict() | {"end_line": frame.line, "column": -1, "end_column": -1}
                self._frames[frame] = self.row("frames", **cells)
            node = self._frames[frame], caller
            if node not in self._stacks:
                self._stacks[node] = self.row("stacks", frame=node[0], caller=caller)
            caller = self._stacks[node]
        return caller

    def record(self, origin: Origin) -> Record:
        """Return the finished record."""
        tables = {name: builder.build() for name, builder in self.tables.items()}
        return Record(tables, self._strings.to_list(), origin)
