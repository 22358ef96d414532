"""Finds which op or grad node called a kernel: the innermost one around the call, in its thread."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paddle_lab.capture.kernels.capture import KernelCapture
from paddle_lab.capture.memory.attribution.backward_runs import BackwardRuns, innermost
from paddle_lab.capture.memory.attribution.executors import find_waiters
from paddle_lab.capture.memory.log.events import Int64s
from paddle_lab.capture.tables.row_keys import RecordKeys
from paddle_lab.trace.record import Record
from paddle_lab.trace.trees import taken


class Owners(NamedTuple):
    """The owners of kernels, shape ``[kernels]`` each. At least one of the two keys is -1."""

    op: Int64s
    grad_node: Int64s
    start_ns: Int64s
    """When the owner began, on the clock of ``perf_counter_ns``."""


class KernelOwners:
    """The ops and the grad nodes of a record, by the times at which they ran.

    Parameters
    ----------
    record
        The record; the ops and the grad nodes are complete.
    kernels
        The kernels of the trace, and the grad nodes that ran.
    keys
        Maps the recorder's keys to rows of the record.
    """

    def __init__(self, record: Record, kernels: KernelCapture, keys: RecordKeys) -> None:
        recorder = kernels.recorder
        spans = [(keys.backward_calls.row(call), span) for call, span in kernels.backward_spans]
        self._record = record
        self._runs = BackwardRuns(record, kernels.runs, spans)
        self._run_threads = kernels.runs.thread
        self._numbers = recorder.thread_numbers()
        start_ns = record.ops["start_ns"] + recorder.start_ns
        self._windows = start_ns, start_ns + record.ops["duration_ns"], record.ops["thread"]

    def find(self, time_ns: Int64s, thread: Int64s) -> Owners:
        """Return what called the kernels.

        Parameters
        ----------
        time_ns, thread
            When and where they were called; shape ``[kernels]``. The operating system's thread ids.
        """
        runs, windows, numbers = self._runs, self._windows, self._numbers
        is_others = ~np.isin(thread, list(numbers))
        waiters = find_waiters(self._record, time_ns, thread, runs, is_others, numbers, windows)
        native = np.where(waiters.native >= 0, waiters.native, thread)
        distinct, inverse = np.unique(native, return_inverse=True)
        number = np.array([numbers.get(one, -1) for one in distinct.tolist()], np.int64)[inverse]
        op = innermost(time_ns, number, *windows)
        run = innermost(time_ns, native, runs.start_ns, runs.end_ns, self._run_threads)
        op_start_ns, run_start_ns = taken(windows[0], op), taken(runs.start_ns, run)
        node = taken(runs.node, run)
        # An op inside a grad node (a PyLayer's) is more specific than the node; an op around the
        # node (paddle.grad) is not.
        is_nodes = (node >= 0) & ((op < 0) | (op_start_ns < run_start_ns))
        return Owners(
            op=np.where(is_nodes, -1, op),
            grad_node=np.where(is_nodes, node, -1),
            start_ns=np.where(is_nodes, run_start_ns, op_start_ns),
        )
