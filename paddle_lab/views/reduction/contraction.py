"""Ops and grad nodes put together: one stands for many, and the edges between what is left stay.

What stands for many is a row like any other, named for example ``"22 ops, not stored"``; the table
``stand_ins`` tells how many it stands for. What lies between those put together is left out.
"""

from __future__ import annotations

import numpy as np

from paddle_lab.analysis.trees import Keys, nearest_marked
from paddle_lab.analysis.user_frames import op_frames
from paddle_lab.trace.record import Record
from paddle_lab.trace.table import StringPool, Table
from paddle_lab.views.reduction.contracted_nodes import ContractedNodes
from paddle_lab.views.reduction.contracted_ops import ContractedOps
from paddle_lab.views.reduction.parts import Parts
from paddle_lab.views.reduction.stand_ins import Counts, counts_of, stand_in_rows
from paddle_lab.views.reduction.tidying import Kept, kept_with_parents, without_loose_ends


def contracted(record: Record, parts: Parts) -> Record:
    """Return the record with one op, and one grad node, for each part.

    Parameters
    ----------
    record
        A record with answer tables.
    parts
        Each has at least one op.
    """
    ops = ContractedOps(record, parts)
    nodes = ContractedNodes(record, parts, ops)
    counts, strings = counts_of(record), StringPool(record.strings)
    op_groups, node_groups = ops.groups(), nodes.groups()
    groups = _kept_groups(record, op_groups, node_groups)
    tables = dict(record.tables)
    tables["ops"] = ops.rows(strings, counts)
    tables["op_groups"] = Table({"group": groups.of(op_groups)})
    tables["op_frames"] = op_frames(Record(tables, record.strings, record.origin))
    tables["uses"] = ops.use_rows()
    tables["op_edges"] = ops.edge_rows()
    tables["groups"] = _group_rows(record, groups, ops.kept)
    tables["grad_nodes"] = nodes.rows(strings, counts)
    tables["grad_node_groups"] = Table({"group": groups.of(node_groups)})
    tables["inner_grad_nodes"] = nodes.inner_rows()
    tables["grad_edges"] = nodes.edge_rows()
    tables["grad_stats"], tables["grad_histograms"] = nodes.gradient_rows()
    left = Counts(ops.counts(counts.ops), nodes.counts(counts.nodes), nodes.counts(counts.leaves))
    tables["stand_ins"] = stand_in_rows(left)
    for name in ("grad_roots", "grad_targets", "backward_members"):
        tables[name] = nodes.pairs_with_calls(name)
    _refer_anew(tables, ops.kept, nodes.kept)
    whole = Record(tables, strings.to_list(), record.origin)
    return without_loose_ends(whole, is_stand_in=ops.is_stand_in())


def _refer_anew(tables: dict[str, Table], ops: Kept, nodes: Kept) -> None:
    """Let the rows that are as they were refer to the ops and grad nodes that are left."""
    for name in ("findings", "finding_marks", "allocations"):
        if name in tables:
            table = dict(tables[name].columns)
            table["op"] = ops.of(table["op"])
            table["grad_node"] = nodes.of(table["grad_node"])
            tables[name] = Table(table)
    for name, column in (("tensors", "producer"), ("scopes", "op")):
        keys = ops.of(tables[name][column])
        tables[name] = Table({**tables[name].columns, column: keys})
    calls = dict(tables["backward_calls"].columns)
    before = np.append(0, np.cumsum(ops.stays)).astype(np.int32)
    calls["ops_before"] = before[np.clip(calls["ops_before"], 0, len(before) - 1)]
    tables["backward_calls"] = Table(calls)


def _kept_groups(record: Record, op_groups: Keys, node_groups: Keys) -> Kept:
    """Return the groups that hold an op of what is left, a grad node, or one that does."""
    parents = record.groups["parent"]
    used = np.zeros(len(parents), np.bool_)
    for group in (op_groups, node_groups):
        used[group[group >= 0]] = True
    used = kept_with_parents(used, parents)
    return Kept(used, nearest_marked(parents, used))


def _group_rows(record: Record, kept: Kept, ops: Kept) -> Table:
    columns = {name: column[kept.rows] for name, column in record.groups.columns.items()}
    columns["parent"] = kept.of(columns["parent"])
    columns["first_op"] = ops.of(columns["first_op"])
    return Table(columns)
