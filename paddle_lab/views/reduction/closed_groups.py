"""Chooses which groups a reduced copy of a trace closes, to have fewer ops."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.record import Record
from paddle_lab.trace.trees import Keys, depths, levels

_POINTED_AT, _PLAIN, _COPY = 0, 1, 2
"""The order of opening: first groups that findings point at, then groups unlike their earlier
siblings, then copies of earlier siblings."""
_MOST_POINTED_AT = 200


def closed_groups(record: Record, *, most_ops: int) -> Keys:
    """Return the outermost closed group around each op, -1 for none, shape ``[ops]``.

    Groups are opened until about ``most_ops`` ops and closed groups are visible. Groups that
    findings mark are opened first, copies of earlier siblings last, and outer groups before inner
    ones.

    Parameters
    ----------
    record
        A record with answer tables.
    most_ops
        About how many ops the reduced trace should have. A closed group counts as one op.
    """
    parent, op_group = record.groups["parent"], record.op_groups["group"]
    depth = depths(parent)
    rank = _ranks(record)
    # A group inside a copy is opened after the copy.
    for rows in levels(depth)[1:]:
        rank[rows] = np.where(
            rank[rows] == _POINTED_AT, _POINTED_AT, np.maximum(rank[rows], rank[parent[rows]])
        )
    rows_inside = np.bincount(np.append(op_group, parent) + 1, minlength=len(parent) + 1)
    first_op = record.groups["first_op"]
    # Copies are opened one after the other, each with all groups inside it.
    order = np.lexsort((depth, first_op, np.where(rank == _COPY, 0, depth), rank))
    # An opened group replaces one op, which stood for it, by its content.
    seen = rows_inside[0] + np.cumsum(rows_inside[1:][order] - 1)
    is_closed = np.zeros(len(parent), np.bool_)
    is_closed[order[np.maximum.accumulate(seen) > most_ops]] = True
    is_closed &= record.groups["op_count"] > 1
    outermost = np.where(is_closed, np.arange(len(parent)), -1)
    for rows in levels(depth)[1:]:
        above = outermost[parent[rows]]
        outermost[rows] = np.where(above >= 0, above, outermost[rows])
    closed: Keys = np.append(outermost, -1)[op_group].astype(np.int32)
    return closed


def _ranks(record: Record) -> npt.NDArray[np.int64]:
    """Return the rank of each group, in which order they open: findings', others, copies."""
    groups = record.groups
    keys = np.stack([groups[name] for name in ("parent", "structure", "kind")])
    order = np.lexsort((groups["first_op"], *keys[::-1]))
    is_like_last = np.append(False, (keys[:, order[1:]] == keys[:, order[:-1]]).all(axis=0))
    is_copy = np.zeros(len(groups), np.bool_)
    is_copy[order] = is_like_last[: len(order)]
    is_copy &= groups["structure"] >= 0
    rank = np.where(is_copy, _COPY, _PLAIN)
    if "findings" in record.tables:
        ops = record.findings["op"]
        for op in ops[ops >= 0][:_MOST_POINTED_AT].tolist():
            group = int(record.op_groups["group"][op])
            while group >= 0 and rank[group] != _POINTED_AT:
                rank[group] = _POINTED_AT
                group = int(groups["parent"][group])
    return rank
