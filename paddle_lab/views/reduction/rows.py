"""Drops rows of tables, and updates the keys in all other tables."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import VIEW_TABLES
from paddle_lab.trace.table import Table
from paddle_lab.trace.trees import gathered

Flags = npt.NDArray[np.bool_]
Tables = dict[str, Table]

_IN_STEP: Final = {
    "ops": ("op_groups", "op_costs"),
    "grad_nodes": ("grad_node_groups", "grad_node_costs"),
    "stacks": ("stack_frames",),
    "layers": ("layer_names",),
    "kernel_times": ("roofline_shares",),
}
"""Tables with one row for each row of another."""
_DETAILS: Final = {
    "ops": (
        ("uses", "op"),
        ("programs", "op"),
        ("own_times", "op"),
        ("kernel_times", "op"),
        ("program_ops", "op"),
        ("compared", "op"),
        ("op_edges", "source"),
        ("op_edges", "target"),
        ("finding_marks", "op"),
    ),
    "grad_nodes": (
        ("inner_grad_nodes", "grad_node"),
        ("kernel_times", "grad_node"),
        ("program_grad_nodes", "grad_node"),
        ("grad_edges", "source"),
        ("grad_edges", "target"),
        ("grad_roots", "grad_node"),
        ("grad_targets", "grad_node"),
        ("backward_members", "grad_node"),
        ("finding_marks", "grad_node"),
    ),
    "tensors": (("value_stats", "tensor"), ("tensor_layers", "tensor")),
    "scopes": (("turns", "scope"),),
    "grad_edges": (("grad_stats", "grad_edge"),),
    "groups": (("odd_siblings", "group"), ("odd_siblings", "typical")),
    "backward_calls": (
        ("backward_times", "backward_call"),
        ("grad_roots", "backward_call"),
        ("grad_targets", "backward_call"),
        ("grad_stops", "backward_call"),
        ("grad_stats", "backward_call"),
        ("losses", "backward_call"),
        ("backward_members", "backward_call"),
    ),
    "grad_stats": (("grad_histograms", "grad_stat"),),
    "value_stats": (("value_histograms", "value_stat"), ("value_deviations", "value_stat")),
}
"""Tables with details of a row, and the column that refers to it; kept or dropped with the row."""


def taken(table: Table, rows: npt.NDArray[Any]) -> Table:
    """Return some rows of a table."""
    return Table({name: column[rows] for name, column in table.columns.items()})


def changed(table: Table, **columns: npt.NDArray[Any]) -> Table:
    """Return the table with some columns replaced. The dtypes of the columns do not change."""
    cast = {name: column.astype(table[name].dtype) for name, column in columns.items()}
    return Table({**table.columns, **cast})


def keep_rows(tables: Tables, name: str, stays: Flags) -> None:
    """Drop rows of a table, and update the keys of these rows in all other tables.

    Parameters
    ----------
    tables
        Tables by name. The dictionary is changed in place.
    name
        The table that loses rows.
    stays
        Which rows of the table stay, shape ``[rows]``.
    """
    for other, column in _DETAILS.get(name, ()):
        if other in tables:
            key = tables[other][column]
            keep_rows(tables, other, (key < 0) | np.append(stays, False)[key])
    rows = np.flatnonzero(stays)
    new_keys = np.full(len(stays) + 1, -1, np.int32)
    new_keys[rows] = np.arange(len(rows))
    for table in (name, *_IN_STEP.get(name, ())):
        tables[table] = taken(tables[table], rows)
    for other, columns in _references(name, tables):
        new = {column: new_keys[tables[other][column]] for column in columns}
        tables[other] = changed(tables[other], **new)


def keep_used(tables: Tables, name: str, *, parent: str = "") -> None:
    """Drop the rows that no other table refers to.

    Parameters
    ----------
    parent
        The column with each row's parent. The ancestors of a used row also stay.
    """
    used = np.zeros(len(tables[name]), np.bool_)
    tell_more = {other for other, _ in _DETAILS.get(name, ())}
    for other, columns in _references(name, tables):
        if other != name and other not in tell_more:
            for column in columns:
                keys = tables[other][column]
                used[keys[keys >= 0]] = True
    if parent:
        used = gathered(tables[name][parent], used, np.logical_or)
    keep_rows(tables, name, used)


def with_used_strings(record: Record) -> Record:
    """Return the record with only the strings that it uses."""
    tables, used = dict(record.tables), np.zeros(len(record.strings), np.bool_)
    used[0] = True
    coded = [(name, _columns(name, "str")) for name in tables]
    for name, columns in coded:
        for column in columns:
            used[tables[name][column]] = True
    codes = np.cumsum(used) - 1
    for name, columns in coded:
        new = {column: codes[tables[name][column]] for column in columns}
        tables[name] = changed(tables[name], **new)
    strings = [record.strings[code] for code in np.flatnonzero(used).tolist()]
    return Record(tables, strings, record.origin)


def _references(name: str, tables: Tables) -> list[tuple[str, list[str]]]:
    """Return the tables that refer to a table, and the columns that contain the references."""
    found = ((other, _columns(other, f"key:{name}")) for other in tables)
    return [(other, columns) for other, columns in found if columns]


def _columns(table: str, column_type: str) -> list[str]:
    return [name for name, kind in VIEW_TABLES[table].items() if kind == column_type]
