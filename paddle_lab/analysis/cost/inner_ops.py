"""Which PyLayers have ops of their own in the record."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.graph.trees import nearest_marked
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import SCOPE_KINDS

_Mask = npt.NDArray[np.bool_]


def with_inner_ops(record: Record) -> tuple[_Mask, _Mask]:
    """Return which ops are PyLayers whose forward, and whose backward, ran other ops.

    What a PyLayer computes without Paddle (with NumPy, in a kernel of its own) is not in the
    record. If it ran no op, its cost is unknown.
    """
    scopes, ops = record.scopes, record.ops
    forward, backward = np.zeros(len(ops), bool), np.zeros(len(ops), bool)
    is_pylayer = scopes["kind"] == SCOPE_KINDS.index("pylayer")
    if not is_pylayer.any():
        return forward, backward
    # The last entry is for ops outside of every scope.
    around = np.append(nearest_marked(scopes["parent"], is_pylayer), np.int32(-1))
    parents = np.append(scopes["parent"], np.int32(-1))
    own = ops["scope"]
    inside = around[np.where(ops["is_pylayer"] != 0, parents[own], own)]
    inside = np.unique(inside[inside >= 0])
    owners = scopes["op"][inside]
    inside, owners = inside[owners >= 0], owners[owners >= 0]
    is_forward = around[own[owners]] == inside
    forward[owners[is_forward]] = True
    backward[owners[~is_forward]] = True
    return forward, backward
