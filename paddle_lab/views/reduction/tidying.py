"""Rows of a record that nothing refers to any more, and strings: left out, and keys made anew."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.trees import Keys, nearest_marked
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import VIEW_TABLES
from paddle_lab.trace.table import Table

Flags = npt.NDArray[np.bool_]


@dataclass
class Kept:
    """Which rows of a table stay, and which of them stands for each that does not."""

    stays: Flags
    image: Keys
    """Row that stands for each row, itself where it stays; -1 for none. In the old keys."""
    rows: Keys = field(init=False)
    """Old keys of the rows that stay, in order."""

    def __post_init__(self) -> None:
        self.rows = np.flatnonzero(self.stays).astype(np.int32)
        new_key = np.full(len(self.stays) + 1, -1, np.int32)
        new_key[:-1][self.stays] = np.arange(len(self.rows))
        self._new_key = np.append(new_key[self.image], np.int32(-1)).astype(np.int32)

    def of(self, keys: npt.NDArray[Any]) -> Keys:
        """Return new keys for old ones, -1 for what is gone."""
        made_anew: Keys = self._new_key[keys]
        return made_anew


def kept_with_parents(used: Flags, parents: npt.NDArray[Any]) -> Flags:
    """Return ``used`` and all that is above it in a tree."""
    kept = used.copy()
    above = parents.astype(np.int32)
    # After round k all that is less than 2^k steps above is marked.
    while (has_above := above >= 0).any():
        kept[above[kept & has_above]] = True
        above[has_above] = above[above[has_above]]
    return kept


def first_of_equal(rows: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return positions of rows that no earlier one equals, in order; ``rows`` has shape [n, k]."""
    number = np.zeros(len(rows), np.int64)
    for column in rows.T:
        pairs = number << 32 | (column.astype(np.int64) + 1)
        _, first, number = np.unique(pairs, return_index=True, return_inverse=True)
    return np.sort(first) if rows.size else np.empty(0, np.int64)


def edges_left(edges: Table, nodes: Kept, is_changed: Flags) -> Keys:
    """Return the rows of edges between what is left of their nodes.

    Parameters
    ----------
    edges
        With columns ``source`` and ``target``.
    nodes
        Which nodes are left.
    is_changed
        Whether another stands for a node, or it for others: between one and something else a single
        edge is left. Shape ``[nodes]``.
    """
    source, target = nodes.image[edges["source"]], nodes.image[edges["target"]]
    changed = is_changed[edges["source"]] | is_changed[edges["target"]]
    rows = np.flatnonzero(source != target)
    alike = np.where(changed[rows], -1, rows)
    rows = rows[first_of_equal(np.stack([source[rows], target[rows], alike], axis=1))]
    return rows.astype(np.int32)


def edges_anew(edges: Table, rows: Keys, nodes: Kept) -> Table:
    """Return some rows of edges, between new keys of nodes."""
    columns = {name: column[rows] for name, column in edges.columns.items()}
    for name in ("source", "target"):
        columns[name] = nodes.of(columns[name])
    return Table(columns)


def without_loose_ends(record: Record, *, is_stand_in: Flags | None = None) -> Record:
    """Return a record without rows that nothing left refers to, and without their strings.

    Parameters
    ----------
    record
        Ops, groups and grad nodes are as they shall be.
    is_stand_in
        Ops that stand for many: their scopes are those around them. Shape ``[ops]``.
    """
    tables = dict(record.tables)
    _tidy_scopes(tables, is_stand_in)
    _tidy(tables, "tensors", parent="")
    _tidy(tables, "stacks", parent="caller")
    _tidy(tables, "frames", parent="")
    return with_fewer_strings(Record(tables, record.strings, record.origin))


def _tidy(tables: dict[str, Table], name: str, *, parent: str) -> None:
    """Leave out the rows of a table that no other refers to, and no row that stays comes from."""
    table = tables[name]
    if not len(table):
        return
    used = np.zeros(len(table), np.bool_)
    for other, schema in VIEW_TABLES.items():
        for column, column_type in schema.items():
            refers = column_type == f"key:{name}" and other != name and other in tables
            if refers and other not in _FOLLOWERS.get(name, ()):
                keys = tables[other][column]
                used[keys[keys >= 0]] = True
    if parent:
        used = kept_with_parents(used, table[parent])
    _keep_rows(tables, name, Kept(used, np.arange(len(table), dtype=np.int32)))


_FOLLOWERS = {"tensors": ("value_stats",)}
"""Tables that tell more of a row, and go with it."""


def _tidy_scopes(tables: dict[str, Table], is_stand_in: Flags | None) -> None:
    scopes = tables["scopes"]
    used = np.zeros(len(scopes), np.bool_)
    ops, group_of_op = tables["ops"], tables["op_groups"]["group"]
    own = ops["scope"] if is_stand_in is None else ops["scope"][~is_stand_in]
    scope_of_group = np.append(tables["groups"]["scope"], np.int32(-1))
    for keys in (
        own,
        tables["groups"]["scope"],
        tables["backward_calls"]["scope"],
        tables["steps"]["scope"],
    ):
        used[keys[keys >= 0]] = True
    used = kept_with_parents(used, scopes["parent"])
    if is_stand_in is not None and is_stand_in.any():
        scope = ops["scope"].copy()
        scope[is_stand_in] = scope_of_group[group_of_op[is_stand_in]]
        tables["ops"] = Table({**ops.columns, "scope": scope})
    _keep_rows(tables, "scopes", Kept(used, nearest_marked(scopes["parent"], used)))
    layers = np.zeros(len(tables["layers"]), np.bool_)
    layer = tables["scopes"]["layer"]
    layers[layer[layer >= 0]] = True
    layers = kept_with_parents(layers, tables["layers"]["parent"])
    _keep_rows(tables, "layers", Kept(layers, np.arange(len(layers), dtype=np.int32)))


def _keep_rows(tables: dict[str, Table], name: str, kept: Kept) -> None:
    """Leave out rows, and make the keys of all tables that refer to them anew."""
    if kept.stays.all():
        return
    for follower in _FOLLOWERS.get(name, ()):
        (column,) = (c for c, kind in VIEW_TABLES[follower].items() if kind == f"key:{name}")
        stays = np.append(kept.stays, True)[tables[follower][column]]
        tables[follower] = taken(tables[follower], np.flatnonzero(stays))
    tables[name] = taken(tables[name], kept.rows)
    for other, schema in VIEW_TABLES.items():
        columns = [c for c, column_type in schema.items() if column_type == f"key:{name}"]
        if columns and other in tables and len(tables[other]):
            made_anew = {column: kept.of(tables[other][column]) for column in columns}
            tables[other] = Table({**tables[other].columns, **made_anew})


def taken(table: Table, rows: npt.NDArray[Any]) -> Table:
    """Return some rows of a table."""
    return Table({name: column[rows] for name, column in table.columns.items()})


def with_fewer_strings(record: Record) -> Record:
    """Return the record with those strings only that it uses."""
    used = np.zeros(len(record.strings), np.bool_)
    used[0] = True
    coded = [
        (name, column)
        for name, schema in VIEW_TABLES.items()
        for column, column_type in schema.items()
        if column_type == "str" and name in record.tables
    ]
    for name, column in coded:
        used[record.tables[name][column]] = True
    if used.all():
        return record
    kept = Kept(used, np.arange(len(used), dtype=np.int32))
    tables = dict(record.tables)
    for name, column in coded:
        codes = kept.of(tables[name][column])
        tables[name] = Table({**tables[name].columns, column: codes})
    strings = [record.strings[code] for code in kept.rows.tolist()]
    return Record(tables, strings, record.origin)
