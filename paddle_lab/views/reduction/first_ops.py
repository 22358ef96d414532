"""Cuts a trace after some of its ops, with everything that belongs only to later ops."""

from __future__ import annotations

import numpy as np

from paddle_lab.analysis.graph.pairing import paired_ops
from paddle_lab.trace.record import Record
from paddle_lab.trace.trees import gathered
from paddle_lab.views.reduction.rows import Flags, changed, keep_rows, keep_used, with_used_strings


def first_ops(record: Record, most: int) -> Record:
    """Return the record with its first ``most`` ops, and the grad nodes that these ops made.

    Parameters
    ----------
    record
        A record with answer tables.
    most
        How many ops stay.
    """
    tables = dict(record.tables)
    keep_rows(tables, "backward_calls", record.backward_calls["ops_before"] <= most)
    keep_rows(tables, "grad_nodes", _nodes_of_first(record, most))
    keep_rows(tables, "ops", np.arange(len(record.ops)) < most)
    for name in ("groups", "scopes", "layers"):
        keep_used(tables, name, parent="parent")
    keep_used(tables, "tensors")
    keep_used(tables, "stacks", parent="caller")
    keep_used(tables, "frames")
    groups = tables["groups"]
    own = np.bincount(tables["op_groups"]["group"] + 1, minlength=len(groups) + 1)[1:]
    counts = gathered(groups["parent"], own, np.add)
    # A group without its last ops is not equal to its siblings any more.
    structure = np.where(counts == groups["op_count"], groups["structure"], -1)
    tables["groups"] = changed(groups, op_count=counts, structure=structure)
    return with_used_strings(Record(tables, record.strings, record.origin))


def _nodes_of_first(record: Record, most: int) -> Flags:
    """Return for each grad node whether one of the first ops made it, or passes it gradients."""
    op = paired_ops(record, record.inner_grad_nodes)
    source, target = (record.grad_edges[name] for name in ("source", "target"))
    stays: Flags = (op >= 0) & (op < most)
    is_reached = np.zeros(len(op), np.bool_)
    is_reached[target[stays[source]]] = True
    # Leaves have no op.
    return stays | (is_reached & (op < 0))
