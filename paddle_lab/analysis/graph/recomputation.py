"""Where the grad nodes are drawn that ops inside a backward pass made: as recomputation makes them.

When backward reaches a recomputed part, recomputation runs the part's forward ops once more and
calls backward on their outputs. Paddle's recomputation is a PyLayer
(``paddle.distributed.fleet.recompute``); people also write their own. Each op that runs again is
paired with its op in the forward and drawn beside it.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.graph.trees import Keys, nearest_marked
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ANSWER_TABLES, SCOPE_KINDS
from paddle_lab.trace.table import Table, storage_dtype

_PYLAYER = SCOPE_KINDS.index("pylayer")
_BACKWARD = SCOPE_KINDS.index("backward")


def inner_grad_nodes(record: Record) -> Table:
    """Return the ``inner_grad_nodes`` table: grad nodes made in a PyLayer's backward.

    Each is drawn beside the op of the forward that its own op ran once more, and beside the
    PyLayer itself where there is none.
    """
    beside = _ops_beside(record)
    op = record.grad_nodes["op"]
    nodes = np.flatnonzero(op >= 0)
    nodes = nodes[beside[op[nodes]] != op[nodes]]
    schema = ANSWER_TABLES["inner_grad_nodes"]
    return Table(
        {
            "grad_node": nodes.astype(storage_dtype(schema["grad_node"])),
            "op": beside[op[nodes]].astype(storage_dtype(schema["op"])),
        }
    )


def paired_ops(record: Record, inner: Table) -> Keys:
    """Return the op beside which each grad node is drawn, -1 for none, shape ``[grad nodes]``."""
    op = record.grad_nodes["op"].astype(np.int32)
    op[inner["grad_node"]] = inner["op"]
    return op


def _ops_beside(record: Record) -> Keys:
    """Return for each op itself, or where it is drawn if a PyLayer's backward ran it."""
    beside = np.arange(len(record.ops), dtype=np.int32)
    kind, pylayer_of = record.scopes["kind"], record.scopes["op"]
    is_pylayer = (kind == _PYLAYER) & (pylayer_of >= 0)
    is_marked = is_pylayer | (kind == _BACKWARD)
    around = _around(record.scopes["parent"], is_marked)
    # A PyLayer's backward stands right inside the backward pass that ran it, its forward does not.
    is_backward = is_pylayer & np.append(kind == _BACKWARD, False)[around]
    if not is_backward.any():
        return beside
    forwards = {int(pylayer_of[at]): at for at in np.flatnonzero(is_pylayer & ~is_backward)}
    wanted = set(pylayer_of[is_backward].tolist())
    ran_in: dict[int, list[int]] = defaultdict(list)
    for op, scope in enumerate(_scopes_of_ops(record, is_marked, around).tolist()):
        at = scope
        while at >= 0 and is_pylayer[at]:
            if pylayer_of[at] in wanted:
                ran_in[at].append(op)
            at = -1 if is_backward[at] else around[at]
    signs = _signs(record)
    for scope in np.flatnonzero(is_backward).tolist():
        pylayer = int(pylayer_of[scope])
        first: dict[tuple[int, int, int], list[int]] = defaultdict(list)
        for op in reversed(ran_in[forwards.get(pylayer, -1)]):
            first[signs[op]].append(op)
        for op in ran_in[scope]:
            partners = first[signs[op]]
            beside[op] = partners.pop() if partners else pylayer
    # In nested recomputation the partner is the op of the outermost forward. A partner comes
    # earlier; in a damaged file, a later one is ignored.
    beside = np.minimum(beside, np.arange(len(beside), dtype=np.int32))
    while not np.array_equal(beside, beside[beside]):
        beside = beside[beside]
    return beside


def _around(parents: npt.NDArray[np.int32], is_marked: npt.NDArray[np.bool_]) -> Keys:
    """Return the nearest marked scope around each scope, itself left out; -1 for none."""
    around: Keys = np.append(nearest_marked(parents, is_marked), np.int32(-1))[parents]
    return around


def _scopes_of_ops(record: Record, is_marked: npt.NDArray[np.bool_], around: Keys) -> Keys:
    """Return the nearest marked scope of each op; that of a PyLayer's own op is around it."""
    nearest = nearest_marked(record.scopes["parent"], is_marked)
    scope: Keys = np.append(nearest, np.int32(-1))[record.ops["scope"]]
    own = np.append(record.scopes["op"], -1)[scope] == np.arange(len(scope))
    scope[own] = around[scope[own]]
    return scope


def _signs(record: Record) -> list[tuple[int, int, int]]:
    """Return what an op has in common with its repetition: name, layer and innermost frame."""
    layer_of = nearest_marked(record.scopes["parent"], record.scopes["layer"] >= 0)
    scope = np.append(layer_of, -1)[record.ops["scope"]]
    layer = np.append(record.scopes["layer"], -1)[scope]
    frame = np.append(record.stacks["frame"], -1)[record.ops["stack"]]
    return list(zip(record.ops["name"].tolist(), layer.tolist(), frame.tolist(), strict=True))
