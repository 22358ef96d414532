"""Which grad nodes an op made: the rungs of the ladder."""

from __future__ import annotations

from paddle_lab.analysis.graph.trees import Keys, csr
from paddle_lab.trace.record import Record


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
