"""The table that ``trace.table(by=…)`` returns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, Literal, get_args

import numpy as np

from paddle_lab.analysis.cost.program_costs import with_program_costs
from paddle_lab.analysis.memory.sizes import size_text, time_text
from paddle_lab.analysis.ranking import groupings
from paddle_lab.analysis.ranking.grad_node_rows import grad_node_columns, node_runs
from paddle_lab.analysis.ranking.sums import Sums
from paddle_lab.analysis.source.stacks import place
from paddle_lab.analysis.tables.columns import Values, listed
from paddle_lab.analysis.tables.data_frames import Framed
from paddle_lab.analysis.tables.rows import RowList
from paddle_lab.analysis.tables.text_table import ROWS_SHOWN, Report, Reported
from paddle_lab.analysis.time.spans import HostTime, host_time
from paddle_lab.trace.record import Record
from paddle_lab.words import listing, say
from paddle_lab.words.suggestion import suggestion

By = Literal["op", "layer", "line", "turn", "node"]
KINDS: tuple[str, ...] = get_args(By)

_GROUPINGS = {
    "op": groupings.by_op,
    "layer": groupings.by_layer,
    "line": groupings.by_line,
    "turn": groupings.by_turn,
}
_SHOWN = (
    "calls", "self_ns", "total_ns", "kernel_ns", "flops", "parameters", "output_bytes",
    "saved_bytes", "dtype",
)  # fmt: skip
_UNKNOWN_SHOWN = 8


class RankedTable(Reported, Framed, RowList[dict[str, Any]]):
    """What the ops, layers, lines, loop iterations or grad nodes of a trace cost.

    ``table["flops"]`` is a column. ``table[0]`` is a row, which is a dictionary; ``for row in
    table`` iterates over the rows. An unknown value is None.

    Attributes
    ----------
    by
        The kind of the rows, such as ``"op"``.
    host
        The host time of the cell, divided into parts.
    unknown
        Names of ops and grad nodes whose FLOPs are unknown, and how often each ran.
    """

    def __init__(
        self, by: str, columns: dict[str, Values], host: HostTime, unknown: dict[str, int]
    ) -> None:
        self.by = by
        self.host = host
        self.unknown = unknown
        self._cells = columns
        cells = zip(*map(listed, columns.values()), strict=True)
        super().__init__([dict(zip(columns, row, strict=True)) for row in cells])

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._cells)

    def __getitem__(self, key: str | int | slice) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        if key not in self._cells:
            raise KeyError(
                say("errors.no_column", name=repr(key), advice=suggestion(key, self.columns))
            )
        return listed(self._cells[key])

    def _columns(self) -> dict[str, Values]:
        return dict(self._cells)

    def _report(self) -> Report:
        # Do not show a column without known values: grad nodes have no host time.
        shown = [name for name in _SHOWN if any(row[name] is not None for row in self)]
        header, *rows = self.shown(shown)
        title, numbers = say(f"reports.table.{self.by}", n=len(self)), range(1, len(shown))
        notes = [*time_notes(self.host), *unknown_notes(self.unknown)]
        return Report(title, header, rows, tuple(numbers), len(self), notes)

    def shown(self, names: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the first rows as text: what each stands for, and its cells in some columns.

        A heading comes first.
        """
        heading = tuple(say(f"reports.table.column.{name}") for name in (self.by, *names))
        rows = ((self._name(row), *(cell_text(row, name) for name in names)) for row in self)
        return [heading, *islice(rows, ROWS_SHOWN)]

    def _name(self, row: dict[str, Any]) -> str:
        name: str | None = row[self.columns[0]]
        if name is None:
            return say(f"reports.table.rest.{self.by}")
        if self.by == "line":
            return f"{place(name, row['line'], row['cell'])}  {row['source']}"
        if self.by == "turn":
            return f"{name} {row['number']}" + (f" ({row['value']})" if row["value"] else "")
        return name


def time_notes(host: HostTime) -> list[str]:
    """Return sentences about the parts of a cell's host time; none for a saved program."""
    if not host.wall_ns:
        return []
    in_ops = int(host.spans.self_ns[host.spans.thread == 0].sum())
    if host.outside_ns is None or host.own_ns is None:
        notes = [say("reports.time.incomplete", ops=time_text(in_ops))]
    else:
        wall, own = time_text(host.wall_ns), time_text(host.own_ns)
        parts = {"wall": wall, "ops": time_text(in_ops), "own": own}
        notes = [say("reports.time.parts", outside=time_text(host.outside_ns), **parts)]
    if host.other_threads_ns:
        notes.append(say("reports.time.threads", time=time_text(host.other_threads_ns)))
    return notes


def unknown_notes(unknown: dict[str, int]) -> list[str]:
    """Return a sentence about the ops and grad nodes whose FLOPs are unknown, if there are any."""
    if not unknown:
        return []
    names = [f"{name} ×{count:,}" for name, count in list(unknown.items())[:_UNKNOWN_SHOWN]]
    more = len(unknown) - _UNKNOWN_SHOWN
    told = say("reports.table.unknown", n=sum(unknown.values()), names=listing(names))
    return [told + (say("reports.table.unknown_more", n=more) if more > 0 else "")]


def ranked_table(record: Record, by: str = "op") -> RankedTable:
    """Return the cost table of a record with answer tables.

    Parameters
    ----------
    by
        One of :data:`KINDS`.
    """
    record = with_program_costs(record)
    host = host_time(record)
    if by == "node":
        columns = grad_node_columns(record)
        flops = listed(columns["flops"])
        order = sorted(range(len(flops)), key=lambda row: -(flops[row] or 0))
    else:
        grouping = _GROUPINGS[by](record, host.spans)
        columns = {**grouping.names, **Sums(record, host.spans, grouping).columns()}
        order = list(range(grouping.row_count))
        if by in {"op", "line"}:
            self_ns, flops = listed(columns["self_ns"]), listed(columns["flops"])
            order.sort(key=lambda row: (-(self_ns[row] or 0), -(flops[row] or 0)))
    columns = {name: _taken(values, order) for name, values in columns.items()}
    return RankedTable(by, columns, host, _unknown(record))


def _taken(values: Values, order: list[int]) -> Values:
    return [values[row] for row in order] if isinstance(values, list) else values[order]


def _unknown(record: Record) -> dict[str, int]:
    """Return the names of ops and grad nodes with unknown FLOPs, and how often each ran."""
    ran = node_runs(record)
    names = np.append(
        record.ops["name"][record.op_costs["flops"] < 0],
        record.grad_nodes["name"][ran[record.grad_node_costs["flops"][ran] < 0]],
    )
    return dict(Counter(map(record.text, names.tolist())).most_common())


def cell_text(row: dict[str, Any], name: str) -> str:
    """Return the text of a cell: ``"4.1 G"``, ``"≥ 4.1 G"`` if a part is unknown, or ``"–"``."""
    value = row[name]
    if value is None:
        return "–"
    text = _TEXTS.get(name, str)(value)
    return f"≥ {text}" if row.get(f"unknown_{name}") else text


def _amount(count: int) -> str:
    """Return a number with three digits and a decimal prefix, such as ``"4.1 G"``."""
    for power, prefix in ((15, "P"), (12, "T"), (9, "G"), (6, "M"), (3, "k")):
        if count >= 0.9995 * 10**power:  # 999,600 is "1 M"
            return f"{count / 10**power:.3g} {prefix}"
    return str(count)


_TEXTS: dict[str, Callable[[int], str]] = {
    **dict.fromkeys(("calls", "parameters"), "{:,}".format),
    **dict.fromkeys(("self_ns", "total_ns", "kernel_ns"), time_text),
    **dict.fromkeys(("output_bytes", "saved_bytes"), size_text),
    "flops": _amount,
}
