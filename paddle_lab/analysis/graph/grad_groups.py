"""In which group each grad node is drawn: where the op that made it is."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.graph.trees import Keys, common_ancestors, depths, taken
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ANSWER_TABLES
from paddle_lab.trace.table import Table, storage_dtype

_PADDLE_GRAD = "paddle.grad"


def grad_node_groups(record: Record, op: Keys, groups: Table, op_groups: Table) -> Table:
    """Return the ``grad_node_groups`` table: one row per grad node.

    A grad node is in the group of its op. A leaf, and any other node without an op, is in the
    lowest group that holds every paired node that hands it a gradient: for a leaf with one
    consumer, that consumer's group. What ``paddle.grad`` made under ``create_graph``, known by
    that call alone, is in the lowest group round all paired nodes beside it, which are those of
    the layer that is differentiated once more. ``-1`` is the top level.

    Parameters
    ----------
    op
        The op beside which each grad node is drawn, as of
        :func:`paddle_lab.analysis.graph.pairing.paired_ops`.
    """
    group = np.full(len(op), -1, storage_dtype(ANSWER_TABLES["grad_node_groups"]["group"]))
    is_paired = op >= 0
    group[is_paired] = op_groups["group"][op[is_paired]]
    is_of_call = _made_by_a_call(record)
    is_placed = is_paired & ~is_of_call
    source, target = record.grad_edges["source"], record.grad_edges["target"]
    edges = np.flatnonzero((source >= 0) & (target >= 0))
    source, target = source[edges], target[edges]
    if is_of_call.any():
        node = np.concatenate([source, target])
        beside = np.concatenate([target, source])
        _place(group, node, beside, is_of_call[node] & is_placed[beside], groups)
    _place(group, target, source, is_paired[source] & ~is_paired[target], groups)
    return Table({"group": group})


def _made_by_a_call(record: Record) -> npt.NDArray[np.bool_]:
    """Return which grad nodes stand by a call of ``paddle.grad`` in place of an op."""
    name = record.strings.index(_PADDLE_GRAD) if _PADDLE_GRAD in record.strings else -2
    is_of_call: npt.NDArray[np.bool_] = taken(record.ops["name"], record.grad_nodes["op"]) == name
    return is_of_call


def _place(
    group: Keys, nodes: Keys, beside: Keys, is_meant: npt.NDArray[np.bool_], groups: Table
) -> None:
    """Put each node that is meant into the lowest group above all groups of those beside it."""
    pairs = np.flatnonzero(is_meant)
    pairs = pairs[np.argsort(nodes[pairs], kind="stable")]
    placed, merged = _merge(nodes[pairs], group[beside[pairs]], groups["parent"])
    group[placed] = merged


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
