"""Whether an op uses its own earlier output, as in ``history = concat([history, x])``."""

from __future__ import annotations

from collections import deque

from paddle_lab.analysis.graph.trees import Keys, csr
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
    starts, order = csr(record.op_edges["target"], len(record.ops))
    sources = record.op_edges["source"][order]
    last = max(same)
    seen, ahead = {last}, deque([last])
    while ahead and len(seen) < _MOST_OPS:
        op = ahead.popleft()
        found = set(sources[starts[op] : starts[op + 1]].tolist()) - seen
        if found & same:
            return True
        seen |= found
        ahead.extend(sorted(found))
    return False
