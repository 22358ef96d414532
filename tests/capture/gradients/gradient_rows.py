"""A record's gradients, by row and by edge."""

from __future__ import annotations

from paddle_lab.trace.floats import from_bits
from paddle_lab.trace.record import Record


def node_names(record: Record) -> list[str]:
    return [record.text(int(name)) for name in record.tables["grad_nodes"]["name"]]


def row_numbers(record: Record) -> list[dict[str, float]]:
    """Return the rows of ``grad_stats``, one for each gradient."""
    table = record.tables["grad_stats"]
    whole = {name: table[name].tolist() for name in ("elements", "zeros", "nans", "infs")}
    parts = {
        name: from_bits(table[name]).tolist() for name in ("smallest", "largest", "mean", "norm")
    }
    columns = {**whole, **parts}
    return [{name: column[row] for name, column in columns.items()} for row in range(len(table))]


def rows_by_edge(record: Record) -> dict[int, int]:
    return {edge: row for row, edge in enumerate(record.tables["grad_stats"]["grad_edge"].tolist())}
