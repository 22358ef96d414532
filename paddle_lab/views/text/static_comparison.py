"""The ops of an eager run next to those of the compiled program, as text and tables."""

from __future__ import annotations

import linecache
from dataclasses import dataclass, fields

from paddle_lab.analysis.source.stacks import place
from paddle_lab.analysis.tables.columns import Values
from paddle_lab.analysis.tables.data_frames import Framed, attributes
from paddle_lab.analysis.tables.text_table import Report, Reported
from paddle_lab.words import say

_MOST_ROWS = 60


@dataclass(frozen=True)
class ComparedOp:
    """An op of the eager run and the corresponding op of the program. One may be missing."""

    eager: str
    file: str
    line: int
    static: str
    static_file: str
    static_line: int
    max_abs: float | None
    """The largest absolute difference of the first outputs; ``None`` if they were not compared."""
    max_rel: float | None
    """The same, relative to the largest number."""
    differs: bool
    """Whether the difference is larger than rounding explains."""
    error: str
    """How shapes or dtypes differ."""
    cell: int | None = None
    """The cell, if the file is a notebook cell; ``None`` for other files."""

    @property
    def source(self) -> str:
        """The source of the line."""
        told = (self.file, self.line) if self.file else (self.static_file, self.static_line)
        return linecache.getline(*told).strip()

    def __repr__(self) -> str:
        missing = say("export.compare.missing")
        eager, static = missing, missing
        if self.eager:
            eager = f"{self.eager} {place(self.file, self.line, self.cell)}"
        if self.static:
            static = f"{self.static} {place(self.static_file, self.static_line, self.cell)}"
        return say("export.compare.op", eager=eager, static=static, source=self.source)

    def cells(self, first: ComparedOp | None) -> tuple[str, ...]:
        """Return the cells of this row in a table. ``first`` is the first op that differs."""
        numbers = ["" if one is None else f"{one:.3g}" for one in (self.max_abs, self.max_rel)]
        line = str(self.line or self.static_line)
        told = self.error or (say("export.result.differs") if self.differs or self == first else "")
        return (line, self.eager, self.static, *numbers, told)


@dataclass(frozen=True, repr=False)
class StaticComparison(Reported, Framed):
    """The result of :func:`paddle_lab.compare_static`."""

    title: str
    """The name of the compared function or layer."""
    rows: list[ComparedOp]
    """The ops in order."""
    first: ComparedOp | None
    """The first op that differs; ``None`` if none does."""
    call: int
    """In which of the two calls, from 1."""
    unchecked: str = ""
    """Why nothing was compared."""

    @property
    def verdict(self) -> str:
        """The result as a sentence."""
        if self.unchecked:
            return say("export.verdict.unchecked", title=self.title, reason=self.unchecked)
        if self.first is None:
            inner = next((row for row in self.rows if row.differs), None)
            if inner is not None:
                return say("export.compare.same_results", title=self.title, op=repr(inner))
            count = sum(row.max_abs is not None for row in self.rows)
            return say("export.compare.same", title=self.title, n=count)
        return say(f"export.compare.call{self.call}", title=self.title, op=repr(self.first))

    def _columns(self) -> dict[str, Values]:
        return attributes(self.rows, [field.name for field in fields(ComparedOp)])

    def _report(self) -> Report:
        names = ("line", "eager", "static", "max_abs", "max_rel", "result")
        header = [say(f"export.column.{name}") for name in names]
        rows = [row.cells(self.first) for row in self.rows[:_MOST_ROWS]]
        return Report(self.verdict, header, rows, (0, 3, 4), len(self.rows))
