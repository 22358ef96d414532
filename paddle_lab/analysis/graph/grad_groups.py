"""The group in which each grad node is drawn, which is usually the group of its op."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ANSWER_TABLES
from paddle_lab.trace.table import Table, storage_dtype
from paddle_lab.trace.trees import Keys, depths, taken

_PADDLE_GRAD = "paddle.grad"


def grad_node_groups(record: Record, op: Keys, groups: Table, op_groups: Table) -> Table:
    """Return the ``grad_node_groups`` table: one row per grad node.

    A grad node is in the group of its op. A node without an op, such as a leaf, is in the lowest
    group that contains all nodes that pass it a gradient and have an op. A node that
    ``paddle.grad`` made under ``create_graph`` is in the lowest group that contains all neighbours
    with an op of the forward, which is the layer that is differentiated a second time. ``-1`` is
    the top level.

    Parameters
    ----------
    op
        The op next to which each grad node is drawn, from
        :func:`paddle_lab.analysis.graph.pairing.paired_ops`.
    """
    of_op = np.append(op_groups["group"], np.int32(-1))
    group = of_op[op].astype(storage_dtype(ANSWER_TABLES["grad_node_groups"]["group"]))
    is_paired, is_of_call = op >= 0, _made_by_a_call(record)
    ends = record.grad_edges["source"], record.grad_edges["target"]
    is_known = (ends[0] >= 0) & (ends[1] >= 0)
    source, target = ends[0][is_known], ends[1][is_known]
    node, beside = np.concatenate([source, target]), np.concatenate([target, source])
    is_meant = is_of_call[node] & (is_paired & ~is_of_call)[beside]
    _place(group, node[is_meant], beside[is_meant], groups["parent"])
    is_meant = is_paired[source] & ~is_paired[target]
    _place(group, target[is_meant], source[is_meant], groups["parent"])
    return Table({"group": group})


def _made_by_a_call(record: Record) -> npt.NDArray[np.bool_]:
    """Return which grad nodes belong to a call of ``paddle.grad``, not to an op."""
    name = record.strings.index(_PADDLE_GRAD) if _PADDLE_GRAD in record.strings else -2
    is_of_call: npt.NDArray[np.bool_] = taken(record.ops["name"], record.grad_nodes["op"]) == name
    return is_of_call


def _place(group: Keys, nodes: Keys, beside: Keys, parents: Keys) -> None:
    """Put each node into the lowest group that contains all its neighbours."""
    depth, found = depths(parents), dict[int, int]()
    for node, other in zip(nodes.tolist(), group[beside].tolist(), strict=True):
        near, own = other, found.get(node, other)
        while own >= 0 and own != near:
            if near < 0 or (own >= 0 and depth[own] >= depth[near]):
                own = int(parents[own])
            else:
                near = int(parents[near])
        found[node] = own
    group[list(found)] = list(found.values())
