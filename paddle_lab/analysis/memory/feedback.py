"""Whether an op uses its own earlier output, as in ``history = concat([history, x])``."""

from __future__ import annotations

from itertools import islice

from paddle_lab.analysis.graph.trees import Keys, rows_by, walk
from paddle_lab.trace.record import Record

_MOST_OPS = 5000
"""The most ops that are examined on the way back from an op."""


def feeds_itself(record: Record, ops: Keys) -> bool:
    """Return whether the last of some ops was computed from another of them.

    Parameters
    ----------
    record
        A record with answer tables.
    ops
        Keys of ops that one place in the code ran again and again; -1 is none.
    """
    same = set(ops[ops >= 0].tolist())
    if not same:
        return False
    edges, last = record.op_edges, max(same)
    before = walk([last], rows_by(edges["target"], edges["source"], len(record.ops)))
    return any(op in same for op in islice(before, 1, _MOST_OPS))
