"""Whether an op takes in what it has made before, as in ``history = concat([history, x])``."""

from __future__ import annotations

from collections import deque

import numpy as np

from paddle_lab.analysis.graph.trees import Keys
from paddle_lab.trace.record import Record

_MOST_OPS = 5000
"""Of what led to an op, so much is looked at."""


def feeds_itself(record: Record, ops: Keys) -> bool:
    """Return whether the last of some ops goes back to another of them.

    Parameters
    ----------
    record
        A record with answer tables.
    ops
        Keys of ops that are one op in the code, which ran again and again; -1 is none.
    """
    same = set(ops[ops >= 0].tolist())
    if not same:
        return False
    edges = record.tables["op_edges"]
    order = np.argsort(edges["target"], kind="stable")
    targets, sources = edges["target"][order], edges["source"][order]
    last = max(same)
    seen, ahead = {last}, deque([last])
    while ahead and len(seen) < _MOST_OPS:
        first, end = np.searchsorted(targets, [(op := ahead.popleft()), op + 1]).tolist()
        for source in sources[first:end].tolist():
            if source in same:
                return True
            if source not in seen:
                seen.add(source)
                ahead.append(source)
    return False
