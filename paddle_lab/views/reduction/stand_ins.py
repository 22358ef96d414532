"""For how many ops and grad nodes each of a reduced copy stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import STAND_IN_TABLES
from paddle_lab.trace.table import Table

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Counts:
    """For how many each row stands, itself among them."""

    ops: Numbers
    """Shape ``[ops]``."""
    nodes: Numbers
    """Shape ``[grad_nodes]``."""
    leaves: Numbers
    """Of those grad nodes the ones that accumulate into a parameter. Shape ``[grad_nodes]``."""


def counts_of(record: Record) -> Counts:
    """Return for how many each op and grad node of a record stands."""
    ops = np.ones(len(record.ops), np.int64)
    nodes = np.ones(len(record.grad_nodes), np.int64)
    leaves = (record.grad_nodes["parameter"] >= 0).astype(np.int64)
    table = record.tables.get("stand_ins")
    if table is not None:
        for counts, key, count in (
            (ops, "op", "count"),
            (nodes, "grad_node", "count"),
            (leaves, "grad_node", "leaves"),
        ):
            told = table[key] >= 0
            counts[table[key][told]] = table[count][told]
    return Counts(ops, nodes, leaves)


def stand_in_rows(counts: Counts) -> Table:
    """Return the table of those that stand for several."""
    of_op, of_node = np.flatnonzero(counts.ops > 1), np.flatnonzero(counts.nodes > 1)
    return Table.from_sequences(
        STAND_IN_TABLES["stand_ins"],
        {
            "op": np.append(of_op, np.full(len(of_node), -1)).tolist(),
            "grad_node": np.append(np.full(len(of_op), -1), of_node).tolist(),
            "count": np.append(counts.ops[of_op], counts.nodes[of_node]).tolist(),
            "leaves": np.append(np.zeros_like(of_op), counts.leaves[of_node]).tolist(),
        },
    )
