"""Which grad nodes belong to which backward call."""

from __future__ import annotations

import numpy as np

from paddle_lab.analysis.graph.trees import Keys, csr
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ANSWER_TABLES
from paddle_lab.trace.table import Table


def backward_members(record: Record) -> Table:
    """Return the ``backward_members`` table: the grad nodes reachable from each call's roots.

    Rows are sorted by call, then grad node. The last call may be of kind ``remaining``: no call of
    the user's, but the graphs of tensors that were alive when the trace ended.
    """
    edges, roots = record.grad_edges, record.grad_roots
    call_count, node_count = len(record.backward_calls), len(record.grad_nodes)
    edge_starts, by_source = csr(edges["source"], node_count)
    root_starts, by_call = csr(roots["backward_call"], call_count)
    first, targets = edge_starts.tolist(), edges["target"][by_source].tolist()
    last_call = [-1] * node_count
    members: list[Keys] = []
    for call in range(call_count):
        found: list[int] = []
        ahead = roots["grad_node"][by_call[root_starts[call] : root_starts[call + 1]]].tolist()
        while ahead:
            node = ahead.pop()
            if node >= 0 and last_call[node] != call:
                last_call[node] = call
                found.append(node)
                ahead += targets[first[node] : first[node + 1]]
        members.append(np.sort(np.array(found, np.int32)))
    columns = {
        "backward_call": np.repeat(np.arange(call_count), [len(nodes) for nodes in members]),
        "grad_node": np.concatenate([np.zeros(0, np.int32), *members]),
    }
    return Table.from_sequences(ANSWER_TABLES["backward_members"], columns)
