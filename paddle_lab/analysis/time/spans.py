"""Host time as spans: ops and backward calls, one inside another, and the gaps between them.

This module defines self time. ``js/src`` uses the same definition.

- A *span* is one op, or one call of ``backward``. ``paddle.grad`` is an op and has one span.
- A span's *total time* lasts from its begin to its end. Its *self time* is the total time without
the spans directly inside it, so no time is counted twice. Spans can be inside a PyLayer's op,
inside ``paddle.grad``, and inside the backward of a PyLayer (also in recomputation).
- Each thread has its own spans. The *cell's thread* is thread 0: it opened the trace.
- *Outside Paddle's ops* is the time in which no span of the cell's thread ran. In this time, Python
code of the user, of libraries or of Paddle ran, or the thread waited. Other threads do not count.
- The trace's *own time* is the time that the trace itself used in these gaps. It is measured, and
it is not a part of the time outside Paddle's ops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import BACKWARD_KINDS
from paddle_lab.trace.trees import Keys, common_ancestors, depths

_PADDLE_GRAD, _REMAINING = (BACKWARD_KINDS.index(kind) for kind in ("paddle.grad", "remaining"))

Times = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Spans:
    """Spans sorted by thread and start. Each span comes after the span around it."""

    op: Keys
    """The op; -1 for a backward call."""
    backward_call: Keys
    """The backward call, also of the op ``paddle.grad``; -1 for other ops."""
    parent: Keys
    """The innermost span around each span, -1 for none."""
    thread: Keys
    start_ns: Times
    """Since the trace began."""
    end_ns: Times
    self_ns: Times
    stack: Keys
    scope: Keys
    own_ns: Times
    """The trace's own time in this thread until the span began; -1 if it was not recorded."""

    def __len__(self) -> int:
        return len(self.op)

    @property
    def total_ns(self) -> Times:
        """The duration of each span, from begin to end."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True)
class Gaps:
    """The gaps of the cell's thread, in which no span ran, in order. Shape ``[gaps]``."""

    start_ns: Times
    end_ns: Times
    own_ns: Times
    """The part of the gap in which the trace itself worked."""
    stack: Keys
    """The innermost call that contains the spans before and after; -1: the cell itself."""


def spans(record: Record) -> Spans:
    """Return the spans of a record."""
    ops, calls, times = record.ops, record.backward_calls, record.backward_times
    # A call of ``paddle.grad`` that returned is also an op with the same times.
    called = times["backward_call"]
    is_op = (calls["kind"][called] == _PADDLE_GRAD) & (calls["error"][called] == 0)
    grad_calls = {
        (times["thread"][row], times["start_ns"][row]): called[row] for row in np.flatnonzero(is_op)
    }
    call_of_op = np.full(len(ops), -1, np.int32)
    if grad_calls:
        for op, at in enumerate(zip(ops["thread"], ops["start_ns"], strict=True)):
            call_of_op[op] = grad_calls.get(at, -1)
    times_rows = np.flatnonzero(~is_op)
    called = called[times_rows]

    scope_of_call = np.full(len(calls) + 1, -1, np.int32)
    scope_of_call[record.scopes["backward_call"]] = np.arange(len(record.scopes))

    def column(name: str, of_calls: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.append(ops[name], of_calls)

    start = column("start_ns", times["start_ns"][times_rows])
    end = start + np.maximum(column("duration_ns", times["duration_ns"][times_rows]), 0)
    thread = column("thread", times["thread"][times_rows])
    order = np.lexsort((-end, start, thread))
    none = np.full(len(called), -1, np.int32)
    op = np.append(np.arange(len(ops), dtype=np.int32), none)[order]
    call = np.append(call_of_op, called)[order]
    own = np.full(len(ops), -1, np.int64)
    is_of_op = record.own_times["op"] >= 0
    own[record.own_times["op"][is_of_op]] = record.own_times["own_ns"][is_of_op]
    own = np.append(own, times["own_ns"][times_rows])[order]
    start, end, thread = start[order], end[order], thread[order]
    parent = _parents(start, end, thread)
    has_parent = parent >= 0
    end[has_parent] = np.minimum(end[has_parent], end[parent[has_parent]])
    inside = np.bincount(parent[has_parent], (end - start)[has_parent], len(start))
    return Spans(
        op=op,
        backward_call=call.astype(np.int32),
        parent=parent,
        thread=thread.astype(np.int32),
        start_ns=start,
        end_ns=end,
        self_ns=np.maximum(end - start - inside.astype(np.int64), 0),
        stack=column("stack", calls["stack"][called])[order].astype(np.int32),
        scope=column("scope", scope_of_call[called])[order].astype(np.int32),
        own_ns=own,
    )


def _parents(start: Times, end: Times, thread: Keys) -> Keys:
    """Return the span directly around each span. Spans are sorted by thread, begin, falling end."""
    parent = np.full(len(start), -1, np.int32)
    is_inside_last = (start[1:] < end[:-1]) & (thread[1:] == thread[:-1])
    # Outer spans come first. So inner spans overwrite the values of outer spans.
    for span in np.flatnonzero(is_inside_last).tolist():
        last = int(np.searchsorted(thread, thread[span], side="right"))
        after = span + int(np.searchsorted(start[span:last], end[span], side="left"))
        parent[span + 1 : after] = span
    return parent


@dataclass(frozen=True)
class HostTime:
    """The parts of the host time of a cell."""

    spans: Spans
    gaps: Gaps
    wall_ns: int
    """The time from the beginning of the trace to its end."""
    is_complete: bool
    """Whether the record has the time of all ops and backward calls, and its own. False if the
    trace reached its limit, or if an older version wrote the file: then gaps contain ops."""

    @property
    def outside_ns(self) -> int | None:
        """The time outside of Paddle's ops, None if it is unknown."""
        gaps = self.gaps
        if not self.is_complete:
            return None
        return int((gaps.end_ns - gaps.start_ns - gaps.own_ns).sum())

    @property
    def own_ns(self) -> int | None:
        """The trace's own time in the cell's thread, None if it is unknown."""
        return int(self.gaps.own_ns.sum()) if self.is_complete else None

    @property
    def other_threads_ns(self) -> int:
        """The sum of the self times of all spans in other threads than the cell's."""
        return int(self.spans.self_ns[self.spans.thread != 0].sum())


def host_time(record: Record) -> HostTime:
    """Return the host time of a record, divided into parts.

    For a complete record, ``spans.self_ns`` of thread 0, ``outside_ns`` and ``own_ns`` add up to
    ``wall_ns``.
    """
    found = spans(record)
    wall_ns = record.origin.duration_ns
    ran = np.flatnonzero(record.backward_calls["kind"] != _REMAINING)
    has_times = len(ran) == len(record.backward_times) and len(record.own_times) > 0
    return HostTime(
        spans=found,
        gaps=_gaps(record, found, wall_ns),
        wall_ns=wall_ns,
        is_complete=not record.origin.kept and has_times,
    )


def _gaps(record: Record, found: Spans, wall_ns: int) -> Gaps:
    mine = np.flatnonzero(found.thread == 0)
    is_outer = found.parent[mine] < 0
    outer = mine[is_outer]
    start = np.append(0, found.end_ns[outer])
    end = np.append(found.start_ns[outer], wall_ns)
    # The trace's own time was read at the begin of each span, also of inner ones, and at the end.
    own = np.concatenate([[0], found.own_ns[mine], record.own_times["own_ns"][-1:]])
    at = np.append(np.flatnonzero(is_outer) + 1, len(own) - 1)
    own = np.clip((own[at] - own[at - 1]) if len(own) > len(mine) + 1 else 0, 0, end - start)
    stack = np.concatenate([[-1], found.stack[outer], [-1]])
    caller = record.stacks["caller"]
    common = common_ancestors(caller, depths(caller), stack[:-1], stack[1:])
    rows = np.flatnonzero(end > start)
    return Gaps(start[rows], end[rows], own[rows], common[rows])
