"""In which group each grad node is drawn: where the op that made it is."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.trees import Keys, common_ancestors, depths
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ANSWER_TABLES
from paddle_lab.trace.table import Table, storage_dtype


def grad_node_groups(record: Record, groups: Table, op_groups: Table) -> Table:
    """Return the ``grad_node_groups`` table: one row a grad node.

    A grad node is in the group of its op. A leaf, and any other node without an op, is in the
    lowest group that holds every paired node that hands it a gradient: for a leaf with one
    consumer, that consumer's group. ``-1`` is the top level.
    """
    op = record.grad_nodes["op"]
    group = np.full(len(op), -1, storage_dtype(ANSWER_TABLES["grad_node_groups"]["group"]))
    is_paired = op >= 0
    group[is_paired] = op_groups["group"][op[is_paired]]
    source, target = record.grad_edges["source"], record.grad_edges["target"]
    edges = np.flatnonzero((source >= 0) & (target >= 0))
    edges = edges[is_paired[source[edges]] & ~is_paired[target[edges]]]
    edges = edges[np.argsort(target[edges], kind="stable")]
    targets, merged = _merge(target[edges], group[source[edges]], groups["parent"])
    group[targets] = merged
    return Table({"group": group})


def _merge(targets: Keys, groups: Keys, parents: npt.NDArray[np.int32]) -> tuple[Keys, Keys]:
    """Return the distinct sorted ``targets`` and the lowest group above all groups of each."""
    depth = depths(parents)
    while len(targets):
        is_first = np.append(True, targets[1:] != targets[:-1])
        rank = np.arange(len(targets)) - np.flatnonzero(is_first)[np.cumsum(is_first) - 1]
        # Neighbours are merged in pairs, which halves what each target has left.
        is_left = rank % 2 == 0
        left = np.flatnonzero(is_left[:-1] & ~is_left[1:])
        if not len(left):
            break
        groups[left] = common_ancestors(parents, depth, groups[left], groups[left + 1])
        targets, groups = targets[is_left], groups[is_left]
    return targets, groups
