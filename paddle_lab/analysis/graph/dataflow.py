"""Edges between ops, grad nodes of backward calls, and ops that use their own earlier output."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ANSWER_TABLES, EDGE_KINDS, ROLES
from paddle_lab.trace.table import Table
from paddle_lab.trace.trees import Keys, nearest_marked, outermost, rows_by, walk

_OUTPUT = ROLES.index("output")
_DATA, _DETACH = EDGE_KINDS.index("data"), EDGE_KINDS.index("detach")


def op_edges(record: Record) -> Table:
    """Return the ``op_edges`` table: one row for each tensor that an op takes from another op.

    An op that modifies a tensor in place makes a new tensor row, so later readers depend on that
    op. For a detached tensor the source is the op that made the original tensor, and the edge has
    the kind ``detach``. The results of ops inside a PyLayer have edges to the PyLayer's op.

    Rows are in the order of ``uses``. In a record from a trace, this is by target, then by slot.
    """
    uses = record.uses
    takes = np.flatnonzero((uses["role"] != _OUTPUT) & (uses["tensor"] >= 0) & (uses["op"] >= 0))
    target, tensor = uses["op"][takes], uses["tensor"][takes]
    producer, is_detached = producers(record)
    source = producer[tensor]
    kept = (source >= 0) & (source != target)
    columns = {
        "source": source,
        "target": target,
        "tensor": tensor,
        "slot": uses["slot"][takes],
        "kind": np.where(is_detached[tensor], _DETACH, _DATA),
    }
    kept_columns = {name: column[kept] for name, column in columns.items()}
    return Table.from_sequences(ANSWER_TABLES["op_edges"], kept_columns)


def producers(record: Record) -> tuple[Keys, npt.NDArray[np.bool_]]:
    """Return the op that made each tensor's value, and whether the value was detached since.

    Returns
    -------
    producer
        Op keys, int32, shape ``[tensors]``; -1 for data, constants and parameters.
    is_detached
        bool, shape ``[tensors]``.
    """
    tensors = record.tensors
    producer, detached_from = tensors["producer"], tensors["detached_from"]
    # A detached tensor has no op of its own. A tensor that was changed without an op (``set_value``
    # from NumPy) still counts as made by the op of its earlier value.
    is_derived = producer < 0
    is_cut = is_derived & (detached_from >= 0)
    above = np.where(is_cut, detached_from, np.where(is_derived, tensors["previous"], -1))
    origin = outermost(above)
    return producer[origin], nearest_marked(above, is_cut) >= 0


def backward_members(record: Record) -> Table:
    """Return the ``backward_members`` table: the grad nodes reachable from each call's roots.

    Rows are sorted by call, then grad node. The last call may have the kind ``remaining``. It is
    not a call of the user: it stands for the graphs of tensors that were alive when the trace
    ended.
    """
    edges, roots = record.grad_edges, record.grad_roots
    call_count = len(record.backward_calls)
    targets = rows_by(edges["source"], edges["target"], len(record.grad_nodes))
    roots_of = rows_by(roots["backward_call"], roots["grad_node"], call_count)
    members: list[int] = []
    counts: list[int] = []
    for call in range(call_count):
        nodes = sorted(node for node in walk(roots_of(call), targets) if node >= 0)
        counts.append(len(nodes))
        members += nodes
    columns: dict[str, Any] = {
        "backward_call": np.repeat(np.arange(call_count), counts),
        "grad_node": members,
    }
    return Table.from_sequences(ANSWER_TABLES["backward_members"], columns)


_MOST_OPS = 5000
"""The most ops that are examined while walking back from an op."""


def feeds_itself(record: Record, ops: Keys) -> bool:
    """Return whether the last of these ops uses the result of an earlier one, also indirectly.

    Parameters
    ----------
    record
        A record with answer tables.
    ops
        Keys of ops that one line called repeatedly; -1 means no op.
    """
    same = set(ops[ops >= 0].tolist())
    if not same:
        return False
    edges, last = record.op_edges, max(same)
    before = walk([last], rows_by(edges["target"], edges["source"], len(record.ops)))
    return any(op in same for op in islice(before, 1, _MOST_OPS))
