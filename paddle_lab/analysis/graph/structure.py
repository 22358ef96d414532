"""Finds groups that are built alike, and gives them equal numbers.

The structure of a group is the sequence of its op names and inner structures, and the edges between
them. Layer names, parameters and shapes are ignored. So the blocks of a network are usually alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.distinct import mixed
from paddle_lab.trace.trees import common_ancestors, depths, levels


def structure_numbers(
    *,
    parents: npt.NDArray[Any],
    group_labels: npt.NDArray[Any],
    first_ops: npt.NDArray[Any],
    op_groups: npt.NDArray[Any],
    op_names: npt.NDArray[Any],
    sources: npt.NDArray[Any],
    targets: npt.NDArray[Any],
    edge_labels: npt.NDArray[Any],
) -> npt.NDArray[np.int32]:
    """Return int32 numbers, shape ``[groups]``: equal for equal structures, -1 if unique.

    Parameters
    ----------
    parents, group_labels, first_ops
        One entry per group: its parent; a value that must be equal, too, such as a class; its first
        op.
    op_groups, op_names
        One entry per op: its group (-1 at the top level) and the code of its name.
    sources, targets, edge_labels
        One entry per data-flow edge: two op keys, and a value that must be equal, too, such as a
        slot.
    """
    if not len(parents):
        return np.empty(0, np.int32)
    depth = depths(parents)
    hashes = mixed(group_labels)
    # Each part of a group is hashed with its position relative to the group's first op. The hashes
    # are summed, so the order of the parts does not matter.
    op_key = np.arange(len(op_groups))
    grouped = np.flatnonzero(op_groups >= 0)
    op_hashes = mixed(op_names[grouped], (op_key - first_ops[op_groups])[grouped], seed=1)
    np.add.at(hashes, op_groups[grouped], op_hashes)
    holder = common_ancestors(parents, depth, op_groups[sources], op_groups[targets])
    inner = np.flatnonzero(holder >= 0)
    origin = first_ops[holder[inner]]
    ends = sources[inner] - origin, targets[inner] - origin
    edge_hashes = mixed(*ends, edge_labels[inner], seed=2)
    np.add.at(hashes, holder[inner], edge_hashes)
    for nested in reversed(levels(depth)[1:]):
        outer = parents[nested]
        position = first_ops[nested] - first_ops[outer]
        np.add.at(hashes, outer, mixed(hashes[nested], position, seed=3))
    _, number, count = np.unique(hashes, return_inverse=True, return_counts=True)
    return np.where(count[number] > 1, number, -1).astype(np.int32)
