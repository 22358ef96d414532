"""Which op each grad node belongs to, and next to which op it is drawn.

Recomputation runs ops of the forward again during backward, and then calls backward on their
outputs. In Paddle this is a PyLayer (``paddle.distributed.fleet.recompute``); some users write
their own. Each repeated op is paired with the original op in the forward, and its grad nodes are
drawn next to the original.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.graph.scopes import layers_of_scopes
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ANSWER_TABLES, SCOPE_KINDS
from paddle_lab.trace.table import Table
from paddle_lab.trace.trees import Keys, csr, nearest_marked, taken

_PYLAYER = SCOPE_KINDS.index("pylayer")
_BACKWARD = SCOPE_KINDS.index("backward")


def grad_nodes_of_ops(record: Record) -> tuple[Keys, Keys]:
    """Return ``starts`` and ``nodes``: op ``i`` made ``nodes[starts[i]:starts[i + 1]]``.

    Returns
    -------
    starts
        int32, shape ``[ops + 1]``.
    nodes
        Grad node keys, int32, shape ``[paired grad nodes]``.
    """
    return csr(record.grad_nodes["op"], len(record.ops))


def inner_grad_nodes(record: Record) -> Table:
    """Return the ``inner_grad_nodes`` table: grad nodes made in a PyLayer's backward.

    Each such node was made by an op that repeats a forward op, and is drawn next to this forward
    op. If no forward op was repeated, the node is drawn next to the PyLayer.
    """
    beside = _ops_beside(record)
    op = record.grad_nodes["op"]
    nodes = np.flatnonzero(op >= 0)
    nodes = nodes[beside[op[nodes]] != op[nodes]]
    columns = {"grad_node": nodes, "op": beside[op[nodes]]}
    return Table.from_sequences(ANSWER_TABLES["inner_grad_nodes"], columns)


def paired_ops(record: Record, inner: Table) -> Keys:
    """Return the op next to which each grad node is drawn, -1 for none, shape ``[grad nodes]``."""
    op = record.grad_nodes["op"].astype(np.int32)
    op[inner["grad_node"]] = inner["op"]
    return op


def _ops_beside(record: Record) -> Keys:
    """Return the op next to which each op is drawn: itself, except in a PyLayer's backward."""
    beside = np.arange(len(record.ops), dtype=np.int32)
    kind, pylayer_of = record.scopes["kind"], record.scopes["op"]
    is_pylayer = (kind == _PYLAYER) & (pylayer_of >= 0)
    is_marked = is_pylayer | (kind == _BACKWARD)
    parents = record.scopes["parent"]
    # For each scope: the nearest marked scope that contains it, not the scope itself.
    around = taken(nearest_marked(parents, is_marked), parents)
    # The backward of a PyLayer runs directly inside a backward call. Its forward does not.
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
    makes_nodes = np.bincount(record.grad_nodes["op"] + 1, minlength=len(beside) + 1)[1:] > 0
    for scope in np.flatnonzero(is_backward).tolist():
        pylayer = int(pylayer_of[scope])
        found = _partners(ran_in[scope], ran_in[forwards.get(pylayer, -1)], signs, makes_nodes)
        beside[ran_in[scope]] = [pylayer if op < 0 else op for op in found]
    # With nested recomputation, take the op of the outermost forward. The original op always comes
    # earlier; in a damaged file, a later one is ignored.
    beside = np.minimum(beside, np.arange(len(beside), dtype=np.int32))
    while not np.array_equal(beside, beside[beside]):
        beside = beside[beside]
    return beside


def _partners(
    repeated: list[int],
    forward: list[int],
    signs: list[tuple[int, int, int]],
    makes_nodes: npt.NDArray[np.bool_],
) -> list[int]:
    """Return the forward op that each op of a PyLayer's backward repeats, -1 for none."""
    first: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    for op in reversed(forward):
        first[signs[op]].append(op)
    found = [first[signs[op]].pop() if first[signs[op]] else -1 for op in repeated]
    # Users may write the backward's ops on other lines, such as `y = a * b` for `return a * b`.
    alone = [at for at, op in enumerate(found) if op < 0 and makes_nodes[repeated[at]]]
    kinds = [signs[repeated[at]][:2] for at in alone]
    left = sorted(op for ops in first.values() for op in ops if signs[op][:2] in kinds)
    if kinds == [signs[op][:2] for op in left]:
        for at, op in zip(alone, left, strict=True):
            found[at] = op
    return found


def _scopes_of_ops(record: Record, is_marked: npt.NDArray[np.bool_], around: Keys) -> Keys:
    """Return the nearest marked scope of each op; for a PyLayer's own op, the scope around it."""
    scope = taken(nearest_marked(record.scopes["parent"], is_marked), record.ops["scope"])
    own = taken(record.scopes["op"], scope) == np.arange(len(scope))
    return np.where(own, taken(around, scope), scope)


def _signs(record: Record) -> list[tuple[int, int, int]]:
    """Return properties that a repeated op shares with its original: name, layer, frame."""
    layer = np.take(layers_of_scopes(record), record.ops["scope"])
    frame = taken(record.stacks["frame"], record.ops["stack"])
    return list(zip(record.ops["name"].tolist(), layer.tolist(), frame.tolist(), strict=True))
