"""Whose backward an allocation belongs to: the grad node that ran, and the op that made it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.backward_graph.grad_nodes import LEAF_NAME
from paddle_lab.capture.memory.attribution.backward_order import NO_NODE, GradNodeOrder
from paddle_lab.capture.memory.attribution.op_windows import ops_at
from paddle_lab.capture.memory.log.allocator_log import BackwardSpan
from paddle_lab.capture.memory.log.events import GradNodeRuns, Int64s
from paddle_lab.capture.recorder.recorder import INPUT
from paddle_lab.capture.recorder.thread_state import BACKWARD
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import BACKWARD_KINDS

PADDLE_GRAD = BACKWARD_KINDS.index("paddle.grad")
PADDLE_GRAD_OP = "paddle.grad"
_PROGRAM_NODES = ("Dy2StGradNode", "GradNodeRunProgram", "GradNodeLegacyRunProgram")
"""Names of the grad nodes of static programs."""


class BackwardRuns:
    """The grad nodes that ran while the log was recording, each with its row.

    Parameters
    ----------
    record
        Has the backward graphs, without allocations yet.
    runs
        Grad nodes that ran, by start; times on the clock of ``perf_counter_ns``.
    spans
        The backward calls: row of ``backward_calls`` (-1 where it has none), when and where it ran.
    start_ns
        When the trace began.
    """

    def __init__(
        self,
        record: Record,
        runs: GradNodeRuns,
        spans: Sequence[tuple[int, BackwardSpan]],
        start_ns: int,
    ) -> None:
        self._start_ns = start_ns
        self.span_calls = [call for call, _ in spans]
        self._span_columns = (
            _column(span.start_ns for _, span in spans),
            _column(span.end_ns for _, span in spans),
            _column(span.thread for _, span in spans),
        )
        self._run_columns = (runs.start_ns, runs.end_ns, runs.thread)
        self.run_spans = self.spans_at(runs.start_ns, runs.thread)
        self._by_span = _Grouped(self.run_spans)
        self._accumulates = np.array([name == LEAF_NAME for name in runs.names], dtype=bool)
        self.run_programs = np.array([name in _PROGRAM_NODES for name in runs.names], dtype=bool)
        """Which runs are of a static program's grad node."""
        self.run_nodes = self._match(record, runs)
        """Row of ``grad_nodes`` of each run, -1 where it is unknown."""
        self.run_ops = self._ops(record)
        """The op that made each run's grad node; an accumulation node has its deliverer's."""

    def calls_of_threads(self) -> list[tuple[int, int]]:
        """Return the operating system's ids of threads, each with a backward call that it ran."""
        return [
            (thread, call)
            for thread, call in zip(self._span_columns[2].tolist(), self.span_calls, strict=True)
            if call >= 0
        ]

    def spans_at(self, time_ns: Int64s, thread: Int64s) -> Int64s:
        """Return the innermost backward call at each moment in a thread, or -1."""
        return ops_at(time_ns, thread, *self._span_columns)

    def runs_at(self, time_ns: Int64s, thread: Int64s, spans: Int64s) -> Int64s:
        """Return the run to which each moment inside a backward call belongs, or -1.

        Between two runs it belongs to the one that has just ended, whose gradients are handed on;
        before the first to that one, whose gradient is being made.
        """
        inside = ops_at(time_ns, thread, *self._run_columns)
        found = np.where(spans >= 0, inside, NO_NODE)
        # A call inside a grad node (recomputation) starts with no run of its own.
        own = (
            (inside >= 0) & (self.run_spans[inside] == spans) if len(self.run_spans) else inside < 0
        )
        open_moments = np.flatnonzero((spans >= 0) & ~own)
        by_span = _Grouped(spans[open_moments])
        for span in by_span.values:
            runs, moments = self._by_span.rows(span), open_moments[by_span.rows(span)]
            if len(runs):
                before = np.searchsorted(self._run_columns[0][runs], time_ns[moments]) - 1
                found[moments] = runs[np.maximum(before, 0)]
        return found

    def start_ns(self, runs: Int64s) -> Int64s:
        """Return when runs began, -1 where there is none."""
        starts = self._run_columns[0]
        return np.where(runs >= 0, starts[runs], -1) if len(starts) else runs

    def end_ns(self, runs: Int64s) -> Int64s:
        """Return when runs ended, -1 where there is none."""
        ends = self._run_columns[1]
        return np.where(runs >= 0, ends[runs], -1) if len(ends) else runs

    def accumulates(self, runs: Int64s) -> npt.NDArray[np.bool_]:
        """Tell the runs that accumulate a leaf's gradient."""
        return self._accumulates[runs] if len(self._accumulates) else runs >= 0

    def is_program(self, runs: Int64s) -> npt.NDArray[np.bool_]:
        """Tell the runs of static programs' grad nodes; -1 is none."""
        return np.append(self.run_programs, np.False_)[runs]

    def begins_between(self, first_ns: Int64s, last_ns: Int64s) -> npt.NDArray[np.bool_]:
        """Tell in which stretches of time some backward call begins."""
        begins = np.sort(self._span_columns[0])
        return np.searchsorted(begins, first_ns) < np.searchsorted(begins, last_ns, side="right")

    def _match(self, record: Record, runs: GradNodeRuns) -> Int64s:
        nodes, edges, roots = record.grad_nodes, record.grad_edges, record.grad_roots
        names = list(map(record.strings.__getitem__, nodes["name"].tolist()))
        order = GradNodeOrder(names, edges["source"], edges["target"])
        by_call = _Grouped(roots["backward_call"])
        found = np.full(len(runs), NO_NODE, dtype=np.int64)
        for span, call in enumerate(self.span_calls):
            its_runs = self._by_span.rows(span)
            its_roots = roots["grad_node"][by_call.rows(call)].tolist() if call >= 0 else ()
            if len(its_runs) and len(its_roots):
                run_names = list(map(runs.names.__getitem__, its_runs.tolist()))
                found[its_runs] = order.match(
                    its_roots, run_names, wanted=self._wanted(record, span)
                )
        return found

    def _wanted(self, record: Record, span: int) -> list[int] | None:
        """Return the grad nodes of the inputs of ``paddle.grad``; ``None`` for other calls."""
        call = self.span_calls[span]
        if record.backward_calls["kind"][call] != PADDLE_GRAD:
            return None
        ops, uses, nodes = record.ops, record.uses, record.grad_nodes
        begin_ns, end_ns = (int(column[span]) - self._start_ns for column in self._span_columns[:2])
        inside = (ops["start_ns"] >= begin_ns) & (ops["start_ns"] + ops["duration_ns"] <= end_ns)
        candidates = np.flatnonzero(inside & (ops["phase"] == BACKWARD))
        names = [record.text(code) for code in ops["name"][candidates].tolist()]
        if PADDLE_GRAD_OP not in names:
            return None
        # The call's own op is around all others.
        op = candidates[names.index(PADDLE_GRAD_OP)]
        is_wanted = (uses["op"] == op) & (uses["role"] == INPUT) & (uses["slot"] == 1)
        tensors = uses["tensor"][is_wanted]
        leaves = np.flatnonzero(np.isin(nodes["parameter"], tensors) & (nodes["parameter"] >= 0))
        makers = record.tensors["producer"][tensors]
        made = np.flatnonzero(np.isin(nodes["op"], makers[makers >= 0]))
        return [*leaves.tolist(), *made.tolist()]

    def _ops(self, record: Record) -> Int64s:
        node, order = self.run_nodes, self._by_span.order
        ops = np.append(record.grad_nodes["op"].astype(np.int64), -1)[node]  # no node: -1
        is_leaf = (node >= 0) & (ops < 0)
        # Span by span, the last run before each that is no leaf's.
        numbers = np.arange(len(order))
        last = np.maximum.accumulate(np.where(is_leaf[order], -1, numbers))
        is_of_span = last >= self._by_span.starts(self.run_spans[order])
        ops[order] = np.where(is_of_span, ops[order[last]], -1)
        return ops


class _Grouped:
    """Rows by a value they have.

    Parameters
    ----------
    values
        Of each row.
    """

    def __init__(self, values: Int64s) -> None:
        self.order = np.argsort(values, kind="stable")
        """All rows by value, those of one value as they come."""
        self._sorted = values[self.order]

    @property
    def values(self) -> list[int]:
        """The values there are, ascending."""
        found: list[int] = np.unique(self._sorted).tolist()
        return found

    def rows(self, value: int) -> Int64s:
        """Return the rows that have a value, ascending."""
        first = np.searchsorted(self._sorted, value)
        return self.order[first : np.searchsorted(self._sorted, value, side="right")]

    def starts(self, values: Int64s) -> Int64s:
        """Return where in :attr:`order` each value begins."""
        return np.searchsorted(self._sorted, values)


def _column(values: Iterable[int]) -> Int64s:
    return np.fromiter(values, dtype=np.int64)
