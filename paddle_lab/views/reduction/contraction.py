"""Drops the inside of groups: one op and one grad node replace the content of a group.

The new op is an ordinary row with a name such as ``"22 ops, not stored"``. It keeps the edges into
and out of the group. The table ``stand_ins`` says how many ops it replaces.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.graph.pairing import paired_ops
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import STAND_IN_TABLES
from paddle_lab.trace.table import StringPool, Table
from paddle_lab.trace.trees import Keys, common_ancestors, depths
from paddle_lab.views.reduction.rows import (
    Flags,
    Tables,
    changed,
    keep_distinct,
    keep_rows,
    keep_used,
    with_used_strings,
)
from paddle_lab.words import say


@dataclass
class _Contracted:
    """Rows of a table. In each closed group, one row replaces all rows."""

    group: Keys
    """The closed group that each row is in, -1 for a row that stays. Shape ``[rows]``."""
    inside: npt.NDArray[np.intp] = field(init=False)
    """The rows in closed groups."""
    first: npt.NDArray[np.intp] = field(init=False)
    """The first row of each closed group. This row replaces all rows of the group."""
    number: npt.NDArray[np.intp] = field(init=False)
    """Position in ``first``, for each row in ``inside``."""
    image: Keys = field(init=False)
    """The row that replaces each row, or the row itself."""

    def __post_init__(self) -> None:
        self.inside = np.flatnonzero(self.group >= 0)
        _, first, self.number = np.unique(
            self.group[self.inside], return_index=True, return_inverse=True
        )
        self.first = self.inside[first]
        self.image = np.arange(len(self.group), dtype=np.int32)
        self.image[self.inside] = self.first[self.number]

    def sums(self, values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Return for each group the sum of ``values``, which has one value for each row."""
        sums = np.zeros(len(self.first), np.int64)
        # ``ufunc.at`` takes 100 times as long if it has to convert the values.
        np.add.at(sums, self.number, values[self.inside].astype(np.int64))
        return sums

    def counts(self) -> npt.NDArray[np.int64]:
        """Return the number of rows in each group."""
        return np.bincount(self.number, minlength=len(self.first))

    def keep(self, tables: Tables, name: str) -> Flags:
        """Drop the replaced rows. Return for each remaining row whether it replaces others."""
        stays = self.image == np.arange(len(self.image))
        keep_rows(tables, name, stays, image=self.image, whole=self.group < 0)
        is_stand_in: Flags = self.group[stays] >= 0
        return is_stand_in


def contracted(record: Record, closed_group: Keys) -> Record:
    """Return the record with a single op and a single grad node for each closed group.

    Parameters
    ----------
    record
        A record with answer tables.
    closed_group
        The closed group of each op, -1 for an op that stays, shape ``[ops]``.
    """
    tables, strings = dict(record.tables), StringPool(record.strings)
    ops = _Contracted(closed_group)
    nodes = _Contracted(_closed_group_of_nodes(record, ops))
    tables["stand_ins"] = _stand_ins(record, ops, nodes)
    _name_ops(tables, ops, strings)
    _name_nodes(tables, ops, nodes, strings)
    runs_before = np.append(0, np.cumsum(ops.image == np.arange(len(ops.image))))
    ops_before = np.clip(tables["backward_calls"]["ops_before"], 0, len(ops.image))
    tables["backward_calls"] = changed(tables["backward_calls"], ops_before=runs_before[ops_before])
    is_stand_in = ops.keep(tables, "ops")
    _keep_edges(tables, "op_edges", is_stand_in)
    _keep_edges(tables, "grad_edges", nodes.keep(tables, "grad_nodes"))
    for name in ("grad_roots", "backward_members"):
        keep_distinct(tables, name, *tables[name].columns.values())
    if "finding_marks" in tables:
        keep_distinct(tables, "finding_marks", *tables["finding_marks"].columns.values())
    keep_used(tables, "groups", parent="parent")
    keep_used(tables, "scopes", parent="parent", unless=("allocations", "grad_nodes"))
    keep_used(tables, "layers", parent="parent")
    keep_used(tables, "tensors")
    keep_used(tables, "stacks", parent="caller")
    keep_used(tables, "frames")
    return with_used_strings(Record(tables, strings.to_list(), record.origin))


def _closed_group_of_nodes(record: Record, ops: _Contracted) -> Keys:
    """Return the closed group of each grad node, -1 for a grad node that stays."""
    op = paired_ops(record, record.inner_grad_nodes)
    group: Keys = np.append(ops.group, np.int32(-1))[op]
    # A grad node without an op, such as a leaf, belongs to the nodes that pass it gradients.
    source, target = (record.grad_edges[name] for name in ("source", "target"))
    most = np.full(len(group), -1, group.dtype)
    least = np.full(len(group), len(record.groups), group.dtype)
    np.maximum.at(most, target, group[source])
    np.minimum.at(least, target, group[source])
    return np.where((op < 0) & (most == least), most, group).astype(np.int32)


def _name_ops(tables: Tables, ops: _Contracted, strings: StringPool) -> None:
    """Name the op of each closed group, and store what the group's ops share, such as the stack."""
    rows, stacks, first = tables["ops"], tables["stacks"], ops.first
    last = np.zeros_like(first)
    np.maximum.at(last, ops.number, ops.inside)
    columns = {name: column.copy() for name, column in rows.columns.items()}
    columns["name"][first] = _names("reports.reduced.ops_here", ops, strings)
    columns["attributes"][first] = strings[""]
    columns["is_pylayer"][first] = 0
    columns["duration_ns"][first] = ops.sums(rows["duration_ns"])
    columns["raised"][first] = ops.sums(rows["raised"]) > 0
    columns["stack"][first] = common_ancestors(
        stacks["caller"], depths(stacks["caller"]), rows["stack"][first], rows["stack"][last]
    )
    columns["scope"][first] = tables["groups"]["scope"][ops.group[first]]
    tables["ops"] = Table(columns)
    _sum_costs(tables, "op_costs", ops)
    _move_into_groups(tables, "op_groups", ops)


def _name_nodes(tables: Tables, ops: _Contracted, nodes: _Contracted, strings: StringPool) -> None:
    """Name the grad node of each closed group, and assign the group's op to it."""
    first = nodes.first
    columns = {name: column.copy() for name, column in tables["grad_nodes"].columns.items()}
    columns["name"][first] = _names("reports.reduced.nodes_here", nodes, strings)
    columns["parameter"][first] = -1
    columns["op"][first] = ops.first[np.searchsorted(ops.group[ops.first], nodes.group[first])]
    tables["grad_nodes"] = Table(columns)
    _sum_costs(tables, "grad_node_costs", nodes)
    _move_into_groups(tables, "grad_node_groups", nodes)


def _names(key: str, rows: _Contracted, strings: StringPool) -> npt.NDArray[np.int32]:
    """Return a name for the row of each closed group, which says how many rows it replaces."""
    counts, of_group = np.unique(rows.counts(), return_inverse=True)
    names = [strings[say(key, n=n)] for n in counts.tolist()]
    return np.array(names, np.int32)[of_group]


def _sum_costs(tables: Tables, name: str, rows: _Contracted) -> None:
    """Store the sum of a group's costs in the group's row; -1 if one of the costs is unknown."""
    columns = {column: values.copy() for column, values in tables[name].columns.items()}
    for values in columns.values():
        values[rows.first] = np.where(rows.sums(values < 0) > 0, -1, rows.sums(values))
    tables[name] = Table(columns)


def _move_into_groups(tables: Tables, name: str, rows: _Contracted) -> None:
    group = tables[name]["group"].copy()
    group[rows.inside] = rows.group[rows.inside]
    tables[name] = changed(tables[name], group=group)


def _stand_ins(record: Record, ops: _Contracted, nodes: _Contracted) -> Table:
    """Return the table ``stand_ins``: how many ops or grad nodes each new row replaces."""
    is_leaf = record.grad_nodes["parameter"] >= 0
    no_op, no_node = np.full(len(nodes.first), -1), np.full(len(ops.first), -1)
    columns = {
        "op": np.append(ops.first, no_op),
        "grad_node": np.append(no_node, nodes.first),
        "count": np.append(ops.counts(), nodes.counts()),
        "leaves": np.append(np.zeros(len(ops.first)), nodes.sums(is_leaf)),
    }
    return changed(Table.empty(STAND_IN_TABLES["stand_ins"]), **columns)


def _keep_edges(tables: Tables, name: str, is_stand_in: Flags) -> None:
    """Drop edges inside closed groups, and keep one edge between a group and each other row."""
    source, target = tables[name]["source"], tables[name]["target"]
    keep_rows(tables, name, source != target)
    source, target = tables[name]["source"], tables[name]["target"]
    own = np.where(is_stand_in[source] | is_stand_in[target], -1, np.arange(len(source)))
    keep_distinct(tables, name, source, target, own)
