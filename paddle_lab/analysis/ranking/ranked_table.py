"""The table that ``trace.table(by=…)`` returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np

from paddle_lab.analysis.memory.sizes import size_text
from paddle_lab.analysis.ranking import groupings
from paddle_lab.analysis.ranking.grad_node_rows import grad_node_columns
from paddle_lab.analysis.ranking.sums import Sums
from paddle_lab.analysis.source.stacks import place
from paddle_lab.analysis.tables.columns import Values, listed
from paddle_lab.analysis.tables.data_frames import Framed
from paddle_lab.analysis.tables.text_table import ROWS_SHOWN, Report, Reported
from paddle_lab.analysis.time.spans import HostTime, host_time
from paddle_lab.trace.record import Record
from paddle_lab.words import listing, say

By = Literal["op", "layer", "line", "turn", "node"]
KINDS: tuple[str, ...] = get_args(By)

_GROUPINGS = {
    "op": groupings.by_op,
    "layer": groupings.by_layer,
    "line": groupings.by_line,
    "turn": groupings.by_turn,
}
_SHOWN = ("calls", "self_ns", "total_ns", "flops", "parameters", "output_bytes", "dtype")
_UNKNOWN = "–"
_UNKNOWN_SHOWN = 8


class RankedTable(Reported, Framed):
    """What the ops, layers, lines, loop iterations or grad nodes of a trace cost.

    Attributes
    ----------
    by
        What a row is.
    host
        The host time of the cell: what its parts add up to.
    unknown
        Names of ops and grad nodes whose FLOPs are not known, and how often each ran.
    """

    _asked_as = "trace.table().to_pandas()"

    def __init__(
        self, by: str, columns: dict[str, Values], host: HostTime, unknown: dict[str, int]
    ) -> None:
        self.by = by
        self.host = host
        self.unknown = unknown
        self._cells = columns

    def __len__(self) -> int:
        return len(self._cells["calls"])

    def __getitem__(self, column: str) -> Values:
        return self._cells[column]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._cells)

    def _columns(self) -> dict[str, Values]:
        return dict(self._cells)

    def _report(self) -> Report:
        cells = {
            name: [_TEXTS.get(name, _plain)(cell) for cell in self._first(name)] for name in _SHOWN
        }
        pairs = zip(self._first("flops"), self._first("unknown_flops"), strict=True)
        cells["flops"] = [flops_text(*pair) for pair in pairs]
        named = [self._first(name) for name in self.columns[: self.columns.index("calls")]]
        names = [self._name(*row) for row in zip(*named, strict=True)]
        header = [say(f"reports.table.column.{name}") for name in (self.by, *_SHOWN)]
        rows = list(zip(names, *cells.values(), strict=True))
        title, numbers = say(f"reports.table.{self.by}", n=len(self)), range(1, len(_SHOWN))
        return Report(title, header, rows, tuple(numbers), len(self), self._notes())

    def _name(self, *cells: Any) -> str:
        """Return the name of a row, from the cells of its name columns."""
        if cells[0] is None:
            return say(f"reports.table.rest.{self.by}")
        if self.by == "line":
            file, line, cell, _, source = cells
            return f"{place(file, line, cell)}  {source}"
        if self.by == "turn":
            loop, number, value, *_ = cells
            return f"{loop} {number}" + (f" ({value})" if value else "")
        return str(cells[0])

    def _first(self, name: str) -> list[Any]:
        return listed(self._cells[name][:ROWS_SHOWN])

    def _notes(self) -> Sequence[str]:
        notes = [*time_notes(self.host)]
        if self.unknown:
            names = [
                f"{name} ×{count:,}" for name, count in list(self.unknown.items())[:_UNKNOWN_SHOWN]
            ]
            more = len(self.unknown) - _UNKNOWN_SHOWN
            told = say("reports.table.unknown", n=sum(self.unknown.values()), names=listing(names))
            notes.append(told + (say("reports.table.unknown_more", n=more) if more > 0 else ""))
        return notes


def time_notes(host: HostTime) -> list[str]:
    """Return sentences on the parts of a cell's host time."""
    in_ops = int(host.spans.self_ns[host.spans.thread == 0].sum())
    if host.outside_ns is None or host.own_ns is None:
        notes = [say("reports.time.incomplete", ops=_time(in_ops))]
    else:
        wall, own, outside = _time(host.wall_ns), _time(host.own_ns), _time(host.outside_ns)
        notes = [say("reports.time.parts", wall=wall, ops=_time(in_ops), outside=outside, own=own)]
    if host.other_threads_ns:
        notes.append(say("reports.time.threads", time=_time(host.other_threads_ns)))
    return notes


def ranked_table(record: Record, by: str = "op") -> RankedTable:
    """Return the table of a record with answer tables.

    Parameters
    ----------
    by
        One of :data:`KINDS`.
    """
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
            self_ns = listed(columns["self_ns"])
            order.sort(key=lambda row: -self_ns[row])
    columns = {name: _taken(values, order) for name, values in columns.items()}
    return RankedTable(by, columns, host, _unknown(record))


def _taken(values: Values, order: list[int]) -> Values:
    return [values[row] for row in order] if isinstance(values, list) else values[order]


def _unknown(record: Record) -> dict[str, int]:
    """Return names of ops and grad nodes without known FLOPs and their numbers, most first."""
    found: dict[str, int] = {}
    for costs, named in (
        (record.op_costs, record.ops),
        (record.grad_node_costs, record.grad_nodes),
    ):
        codes, counts = np.unique(named["name"][costs["flops"] < 0], return_counts=True)
        found.update(zip(map(record.text, codes.tolist()), counts.tolist(), strict=True))
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _plain(value: Any) -> str:
    if value is None:
        return _UNKNOWN
    return f"{value:,}" if isinstance(value, int) else str(value)


def _time(time_ns: Any) -> str:
    return _UNKNOWN if time_ns is None else f"{time_ns / 1e6:,.3f} ms"


def flops_text(count: int | None, unknown: int) -> str:
    """Return a number of FLOPs with a decimal prefix: ``"4.1 G"``, ``"≥ 4.1 G"``.

    Parameters
    ----------
    count
        The known FLOPs, None if none are known.
    unknown
        How many calls have no known FLOPs.
    """
    if count is None:
        return _UNKNOWN
    at_least = "≥ " if unknown else ""
    for power, prefix in ((15, "P"), (12, "T"), (9, "G"), (6, "M"), (3, "k")):
        if count >= 10**power:
            return f"{at_least}{count / 10**power:.3g} {prefix}"
    return f"{at_least}{count}"


_TEXTS: dict[str, Callable[[Any], str]] = {
    "self_ns": _time,
    "total_ns": _time,
    "output_bytes": lambda size: _UNKNOWN if size is None else size_text(size),
}
