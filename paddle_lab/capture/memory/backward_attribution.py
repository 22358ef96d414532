"""Whose backward an allocation belongs to: the grad node that ran, and the op that made it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.grad_nodes import LEAF_NAME
from paddle_lab.capture.memory.allocator_log import BackwardSpan
from paddle_lab.capture.memory.backward_order import NO_NODE, GradNodeOrder
from paddle_lab.capture.memory.events import GradNodeRun, Int64s
from paddle_lab.capture.memory.op_windows import ops_at
from paddle_lab.capture.recorder import INPUT
from paddle_lab.capture.thread_state import BACKWARD
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import BACKWARD_KINDS

PADDLE_GRAD = BACKWARD_KINDS.index("paddle.grad")
PADDLE_GRAD_OP = "paddle.grad"


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
        runs: list[GradNodeRun],
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
        starts = _column(run.start_ns for run in runs)
        threads = _column(run.thread for run in runs)
        self._run_columns = (starts, _column(run.end_ns for run in runs), threads)
        self.run_spans = self.spans_at(starts, threads)
        self._accumulates = np.array([run.name == LEAF_NAME for run in runs], dtype=bool)
        self.run_nodes = self._match(record, runs)
        """Row of ``grad_nodes`` of each run, -1 where it is unknown."""
        self.run_ops = self._ops(record)
        """The op that made each run's grad node; an accumulation node has its deliverer's."""

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
        for span in np.unique(spans[(spans >= 0) & ~own]):
            runs = np.flatnonzero(self.run_spans == span)
            moments = np.flatnonzero((spans == span) & ~own)
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

    def _match(self, record: Record, runs: list[GradNodeRun]) -> Int64s:
        nodes, edges, roots = record.grad_nodes, record.grad_edges, record.grad_roots
        names = [record.text(code) for code in nodes["name"].tolist()]
        pairs = zip(edges["source"].tolist(), edges["target"].tolist(), strict=True)
        order = GradNodeOrder(names, pairs)
        found = np.full(len(runs), NO_NODE, dtype=np.int64)
        for span, call in enumerate(self.span_calls):
            its_runs = np.flatnonzero(self.run_spans == span)
            its_roots = roots["grad_node"][roots["backward_call"] == call] if call >= 0 else ()
            if len(its_runs) and len(its_roots):
                run_names = [runs[run].name for run in its_runs.tolist()]
                found[its_runs] = order.match(
                    list(map(int, its_roots)), run_names, wanted=self._wanted(record, span)
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
        op_of = record.grad_nodes["op"]
        ops: list[int] = []
        last: dict[int, int] = {}
        for node, span in zip(self.run_nodes.tolist(), self.run_spans.tolist(), strict=True):
            op = int(op_of[node]) if node >= 0 else -1
            is_leaf = node >= 0 and op < 0
            if is_leaf:
                op = last.get(span, -1)
            else:
                last[span] = op
            ops.append(op)
        return np.array(ops, dtype=np.int64)


def _column(values: Iterable[int]) -> Int64s:
    return np.fromiter(values, dtype=np.int64)
