"""Which grad nodes belong to which backward call."""

from __future__ import annotations

import numpy as np

from paddle_lab.analysis.trees import Keys, csr
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ANSWER_TABLES
from paddle_lab.trace.table import Table, storage_dtype


def backward_members(record: Record) -> Table:
    """Return the ``backward_members`` table: the grad nodes reachable from each call's roots.

    Rows are sorted by call, then grad node. The last call may be of kind ``remaining``: no call of
    the user's, but the graphs of tensors that were alive when the trace ended.
    """
    edges, roots = record.grad_edges, record.grad_roots
    node_count, call_count = len(record.grad_nodes), len(record.backward_calls)
    starts, order = csr(edges["source"], node_count)
    targets = edges["target"][order].tolist()
    first_edge = starts.tolist()
    members: list[Keys] = []
    for call in range(call_count):
        call_roots = roots["grad_node"][roots["backward_call"] == call]
        members.append(_reachable(call_roots.tolist(), targets, first_edge, node_count))
    call_keys = np.repeat(np.arange(call_count), [len(nodes) for nodes in members])
    nodes = np.concatenate([*members, np.empty(0, np.int32)])
    schema = ANSWER_TABLES["backward_members"]
    return Table(
        {
            "backward_call": call_keys.astype(storage_dtype(schema["backward_call"])),
            "grad_node": nodes.astype(storage_dtype(schema["grad_node"])),
        }
    )


def _reachable(
    roots: list[int], targets: list[int], first_edge: list[int], node_count: int
) -> Keys:
    is_seen = bytearray(node_count)
    waiting = [root for root in roots if root >= 0]
    while waiting:
        node = waiting.pop()
        if is_seen[node]:
            continue
        is_seen[node] = 1
        reached = targets[first_edge[node] : first_edge[node + 1]]
        waiting.extend(target for target in reached if target >= 0 and not is_seen[target])
    return np.flatnonzero(np.frombuffer(is_seen, np.uint8)).astype(np.int32)
