"""Writes a record row by row, for sources that are not recorded while ops run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from paddle_lab.trace.record import Origin, Record
from paddle_lab.trace.schema import ENUMERATIONS, RECORD_TABLES
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


_EMPTY: Final = {
    table: {
        name: -1 if kind.startswith("key:") or name == "cell" else 0
        for name, kind in schema.items()
    }
    for table, schema in RECORD_TABLES.items()
}
"""For each table a row without cells."""


class RowWriter:
    """A record that grows row by row. It encodes texts and members of enumerations."""

    def __init__(self) -> None:
        self._strings = StringPool()
        self.tables = {name: TableBuilder(schema) for name, schema in RECORD_TABLES.items()}
        self._frames: dict[Frame, int] = {}
        self._stacks: dict[tuple[int, int], int] = {}

    def row(self, table: str, **cells: Any) -> int:
        """Append a row and return its key."""
        schema, builder, row = RECORD_TABLES[table], self.tables[table], dict(_EMPTY[table])
        for name, cell in cells.items():
            kind = schema[name]
            if kind == "str":
                row[name] = self._strings[cell or ""]
            elif cell.__class__ is str:
                row[name] = ENUMERATIONS[kind.removeprefix("enum:")].index(cell)
            else:
                row[name] = cell
        key = len(builder)
        builder.append_cells(row.values())
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
