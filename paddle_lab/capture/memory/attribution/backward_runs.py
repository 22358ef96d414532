"""Finds which grad node was running at a moment, and the op that made the node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paddle_lab.capture.memory.log.events import GradNodeRuns, Int64s
from paddle_lab.capture.memory.log.segments import KeyedSpan
from paddle_lab.trace.grad_node_order import LEAF_NAME, NO_NODE, GradNodeOrder
from paddle_lab.trace.record import Record
from paddle_lab.trace.table import Table
from paddle_lab.trace.trees import grouped, taken


def innermost(
    time_ns: Int64s, thread: Int64s, start_ns: Int64s, end_ns: Int64s, own_thread: Int64s
) -> Int64s:
    """Return the innermost op (or call, or node) that was running at each moment, or -1.

    Parameters
    ----------
    time_ns, thread
        Moments, shape ``[moments]``.
    start_ns, end_ns, own_thread
        Ops on the same clock, shape ``[ops]``. In one thread they are nested.

    Returns
    -------
    numpy.ndarray
        Positions of ops, shape ``[moments]``.
    """
    found = np.full(len(time_ns), -1, dtype=np.int64)
    for number in np.unique(thread):
        moments = np.flatnonzero(thread == number)
        ops = np.flatnonzero(own_thread == number)
        # If two start at the same time, the one that ends first is inside the other one.
        ops = ops[np.lexsort((-end_ns[ops], start_ns[ops]))]
        starts, ends = start_ns[ops], np.append(end_ns[ops], np.iinfo(np.int64).max)
        around = _enclosing(ends[:-1], starts)
        candidates = np.searchsorted(starts, time_ns[moments], side="right") - 1
        while (is_over := ends[candidates] < time_ns[moments]).any():
            candidates = np.where(is_over, around[candidates], candidates)
        found[moments] = np.append(ops, -1)[candidates]
    return found


def _enclosing(ends: Int64s, starts: Int64s) -> Int64s:
    """Return for each interval, sorted by start, the innermost interval around it, or -1."""
    around = np.full(len(ends), -1, dtype=np.int64)
    if np.all(ends[:-1] < ends[1:]):  # the usual case: one op after the other
        return around
    open_intervals: list[int] = []
    end_list = ends.tolist()
    for position, (start, end) in enumerate(zip(starts.tolist(), end_list, strict=True)):
        # An interval that ends before this one ends is not around it, even if they overlap.
        while open_intervals and end_list[open_intervals[-1]] < max(start, end):
            open_intervals.pop()
        if open_intervals:
            around[position] = open_intervals[-1]
        open_intervals.append(position)
    return around


_PROGRAM_NODES = ("Dy2StGradNode", "GradNodeRunProgram", "GradNodeLegacyRunProgram")
"""Names of the grad nodes of static programs."""


class BackwardRuns:
    """The grad nodes that ran while the log was recording, each with its row in the record.

    Parameters
    ----------
    record
        Has the backward graphs, without allocations yet.
    runs
        Grad nodes that ran, by start; times on the clock of ``perf_counter_ns``.
    spans
        The backward calls: row of ``backward_calls`` (-1 if it has none), its times, its thread.
    """

    def __init__(self, record: Record, runs: GradNodeRuns, spans: Sequence[KeyedSpan]) -> None:
        self.calls = np.array([call for call, _ in spans], np.int64)
        """The row of ``backward_calls`` of each span."""
        bounds = [(span.start_ns, span.end_ns, span.thread) for _, span in spans]
        self.spans = np.array(bounds, np.int64).reshape(-1, 3).T
        """The start, the end and the thread of each span."""
        self._runs = runs
        self.end_ns, self.start_ns = runs.end_ns, runs.start_ns
        self.span = self.spans_at(runs.start_ns, runs.thread)
        """The backward call of each run, or -1."""
        self._of_span = grouped(self.span)
        self.accumulates = np.asarray(runs.names == LEAF_NAME, np.bool_)
        """Which runs accumulate a leaf's gradient."""
        self.is_program = np.array([name in _PROGRAM_NODES for name in runs.names], np.bool_)
        """Which runs are of a static program's grad node."""
        self.node = np.full(len(runs), NO_NODE)
        """The row of ``grad_nodes`` of each run, -1 if unknown."""
        self.op = np.full(len(runs), -1)
        """The op that made each run's grad node; for a leaf's, the op of the preceding node."""
        self._find_nodes(record)

    def spans_at(self, time_ns: Int64s, thread: Int64s) -> Int64s:
        """Return the innermost backward call at each moment in a thread, or -1."""
        return innermost(time_ns, thread, *self.spans)

    def runs_at(self, time_ns: Int64s, thread: Int64s, spans: Int64s) -> Int64s:
        """Return the run to which each moment inside a backward call belongs, or -1.

        A moment between two runs belongs to the earlier one, which passes its gradients on. A
        moment before the first run belongs to the first run, whose gradient is being made.
        """
        inside = innermost(time_ns, thread, self.start_ns, self.end_ns, self._runs.thread)
        found = np.where(spans >= 0, inside, -1)
        # A call may be inside a grad node (recomputation). The run around the call then does not
        # belong to the call.
        is_own = (inside >= 0) & (taken(self.span, inside) == spans)
        for span, moments in grouped(np.where(is_own, -1, spans)).items():
            runs = self._of_span.get(span)
            if runs is not None:
                before = np.searchsorted(self.start_ns[runs], time_ns[moments]) - 1
                found[moments] = runs[np.maximum(before, 0)]
        return found

    def _find_nodes(self, record: Record) -> None:
        nodes, edges = record.grad_nodes, record.grad_edges
        names = [record.strings[name] for name in nodes["name"].tolist()]
        order = GradNodeOrder(names, edges["source"], edges["target"])
        roots, targets = nodes_of_calls(record.grad_roots), nodes_of_calls(record.grad_targets)
        for span, runs in self._of_span.items():
            call = int(self.calls[span])
            if call in roots:
                run_names = self._runs.names[runs].tolist()
                self.node[runs] = order.match(roots[call], run_names, wanted=targets.get(call))
        op = taken(nodes["op"], self.node)
        is_leaf = (self.node >= 0) & (op < 0)
        # For each run of a grad node: the latest run in the same call, up to this run, whose node
        # is not a leaf.
        runs = np.argsort(self.span, kind="stable")
        position = np.arange(len(runs))
        is_first = np.diff(self.span[runs], prepend=-2) != 0
        begin = np.maximum.accumulate(np.where(is_first, position, 0))
        last = np.maximum.accumulate(np.where(is_leaf[runs], -1, position))
        self.op[runs] = taken(op[runs], np.where(last < begin, -1, last))


def nodes_of_calls(table: Table) -> dict[int, list[int]]:
    """Return the grad nodes of each backward call, from a table of pairs."""
    rows = grouped(table["backward_call"])
    nodes = {call: table["grad_node"][its_rows] for call, its_rows in rows.items()}
    return {call: of_call[of_call >= 0].tolist() for call, of_call in nodes.items()}
