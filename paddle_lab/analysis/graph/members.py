"""Which grad nodes belong to which backward call."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.graph.trees import Keys, csr
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ANSWER_TABLES
from paddle_lab.trace.table import Table, storage_dtype


def backward_members(record: Record) -> Table:
    """Return the ``backward_members`` table: the grad nodes reachable from each call's roots.

    Rows are sorted by call, then grad node. The last call may be of kind ``remaining``: no call of
    the user's, but the graphs of tensors that were alive when the trace ended.

    Notes
    -----
    Most nodes belong to one call only. Arrays find them: from each node the way goes back, to a
    node that passes it a gradient, until it reaches the root of a call. Where the graphs of two
    calls meet at a leaf, arrays find that, too: the calls of a training meet at the leaves of its
    parameters. A node-by-node walk remains only where graphs meet elsewhere.
    """
    edges, roots = record.grad_edges, record.grad_roots
    node_count = len(record.grad_nodes)
    is_edge = (edges["source"] >= 0) & (edges["target"] >= 0)
    source, target = edges["source"][is_edge], edges["target"][is_edge]
    is_root = (roots["grad_node"] >= 0) & (roots["backward_call"] >= 0)
    root, root_call = roots["grad_node"][is_root], roots["backward_call"][is_root]
    call = _calls_behind(source, target, root, root_call, node_count)
    has_next = np.zeros(node_count, np.bool_)
    has_next[source] = True
    meet = (call[source] >= 0) & (call[source] != call[target])
    at_leaf = meet & ~has_next[target]
    shared = np.stack((call[source[at_leaf]], target[at_leaf]), axis=1)
    meets = np.flatnonzero(meet & has_next[target])
    again = np.flatnonzero(call[root] != root_call)
    starts: dict[int, list[int]] = {}
    for one, node in zip(
        [*call[source[meets]].tolist(), *root_call[again].tolist()],
        [*target[meets].tolist(), *root[again].tolist()],
        strict=True,
    ):
        starts.setdefault(one, []).append(node)
    nodes = np.flatnonzero(call >= 0)
    members = [np.stack((call[nodes], nodes), axis=1), shared]
    if starts:
        members.append(_walked(starts, source, target, call))
    rows = np.concatenate(members)
    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    # Several edges of a call lead to one leaf, and a walk comes to it, too.
    is_first = np.ones(len(rows), np.bool_)
    is_first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    rows = rows[is_first]
    schema = ANSWER_TABLES["backward_members"]
    return Table(
        {
            name: np.ascontiguousarray(rows[:, i]).astype(storage_dtype(schema[name]))
            for i, name in enumerate(("backward_call", "grad_node"))
        }
    )


def _calls_behind(
    source: Keys, target: Keys, root: Keys, root_call: Keys, node_count: int
) -> npt.NDArray[np.int64]:
    """Return a call that each node belongs to, int64, shape ``[grad nodes]``; -1 for unknown."""
    call = np.full(node_count, -1, np.int64)
    call[root] = root_call
    behind = np.arange(node_count)
    behind[target] = source
    behind[root] = root
    for _ in range(node_count.bit_length() + 1):
        further = behind[behind]
        if np.array_equal(further, behind):
            break
        behind = further
    found: npt.NDArray[np.int64] = call[behind]
    return found


def _walked(
    starts: dict[int, list[int]], source: Keys, target: Keys, call: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return rows of call and node for what calls reach of the nodes of others."""
    first, order = csr(source, len(call))
    first_edge, targets, known = first.tolist(), target[order].tolist(), call.tolist()
    found: list[tuple[int, int]] = []
    for one, waiting in starts.items():
        seen: set[int] = set()
        while waiting:
            node = waiting.pop()
            if node in seen or known[node] == one:
                continue
            seen.add(node)
            waiting.extend(targets[first_edge[node] : first_edge[node + 1]])
        found.extend((one, node) for node in seen)
    return np.array(found, np.int64).reshape(-1, 2)
