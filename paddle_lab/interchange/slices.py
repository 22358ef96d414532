"""Ops and the calls around them as slices of time that nest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paddle_lab.analysis.graph.trees import depths, gathered, taken
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import SCOPE_KINDS


@dataclass
class Slice:
    """A stretch of one thread's time: an op, or the call of a layer, region or backward."""

    thread: int
    start_ns: int
    end_ns: int
    kind: str
    """The scope's kind; ``"op"``."""
    op: int = -1
    """The op, also that of a PyLayer's call; -1 for other calls."""
    scope: int = -1
    """The call; -1 for an op."""


def slices(record: Record) -> list[Slice]:
    """Return ops and calls, by thread and start, each within the one around it.

    A record has the times of ops alone: a call lasts from its first op to its last. A PyLayer is
    its call's slice, not one more of its own op.
    """
    ops, scopes = record.ops, record.scopes
    is_call = np.zeros(len(ops) + 1, bool)
    is_call[scopes["op"]] = True
    # Calls before ops, outer before inner: so they come where they begin at the same moment.
    found = _calls(record)
    found += [
        Slice(thread, start_ns, start_ns + max(duration_ns, 0), "op", op=op)
        for op, (thread, start_ns, duration_ns) in enumerate(
            zip(
                ops["thread"].tolist(),
                ops["start_ns"].tolist(),
                ops["duration_ns"].tolist(),
                strict=True,
            )
        )
        if not is_call[op]
    ]
    found.sort(key=lambda part: (part.thread, part.start_ns, -part.end_ns))
    around: list[Slice] = []
    for part in found:
        while around and (around[-1].thread != part.thread or around[-1].end_ns <= part.start_ns):
            around.pop()
        # A call's time excludes the trace's own cost, and the calls inside begin after that cost.
        if around:
            part.end_ns = min(part.end_ns, around[-1].end_ns)
        around.append(part)
    return found


def _calls(record: Record) -> list[Slice]:
    """Return the calls in which ops were called, outer before inner."""
    ops, scopes = record.ops, record.scopes
    count = len(scopes)
    first = np.full(count, np.iinfo(np.int64).max)
    last = np.full(count, -1)
    inside = np.flatnonzero(ops["scope"] >= 0)
    inside = inside[ops["thread"][inside] == scopes["thread"][ops["scope"][inside]]]
    scope = ops["scope"][inside]
    np.minimum.at(first, scope, ops["start_ns"][inside])
    np.maximum.at(last, scope, ops["start_ns"][inside] + np.maximum(ops["duration_ns"][inside], 0))
    called = np.flatnonzero(scopes["op"] >= 0)
    own = scopes["op"][called]
    first[called] = np.minimum(first[called], ops["start_ns"][own])
    last[called] = np.maximum(last[called], ops["start_ns"][own] + ops["duration_ns"][own])
    # A call lasts as long as those inside it that ran in its thread.
    thread, parent = scopes["thread"], scopes["parent"]
    parent = np.where(taken(thread, parent) == thread, parent, -1)
    starts = gathered(parent, first, np.minimum).tolist()
    ends = gathered(parent, last, np.maximum).tolist()
    threads, kinds, op = thread.tolist(), scopes["kind"].tolist(), scopes["op"].tolist()
    return [
        Slice(threads[row], starts[row], ends[row], SCOPE_KINDS[kinds[row]], op=op[row], scope=row)
        for row in np.argsort(depths(scopes["parent"]), kind="stable").tolist()
        if ends[row] >= 0
    ]
