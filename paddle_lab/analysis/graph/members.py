"""The grad nodes that belong to each backward call."""

from __future__ import annotations

from typing import Any

from paddle_lab.analysis.graph.trees import rows_by, walk
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ANSWER_TABLES
from paddle_lab.trace.table import Table


def backward_members(record: Record) -> Table:
    """Return the ``backward_members`` table: the grad nodes reachable from each call's roots.

    Rows are sorted by call, then grad node. The last call may be of kind ``remaining``: not a call
    of the user, but the graphs of tensors that were alive when the trace ended.
    """
    edges, roots = record.grad_edges, record.grad_roots
    call_count = len(record.backward_calls)
    targets = rows_by(edges["source"], edges["target"], len(record.grad_nodes))
    roots_of = rows_by(roots["backward_call"], roots["grad_node"], call_count)
    members = [sorted({*walk(roots_of(call), targets)} - {-1}) for call in range(call_count)]
    columns: dict[str, Any] = {
        "backward_call": [call for call, nodes in enumerate(members) for _ in nodes],
        "grad_node": [node for nodes in members for node in nodes],
    }
    return Table.from_sequences(ANSWER_TABLES["backward_members"], columns)
