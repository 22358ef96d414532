"""Fills the record's tables ``kernel_times`` and ``rooflines``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from paddle_lab.capture.kernels.capture import KernelCapture
from paddle_lab.capture.kernels.peaks import DTYPE, peaks
from paddle_lab.capture.memory.attribution.backward_runs import BackwardRuns, innermost
from paddle_lab.capture.memory.attribution.executors import find_waiters
from paddle_lab.capture.memory.log.events import Int64s
from paddle_lab.capture.tables.row_keys import RecordKeys
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.trace.table import StringPool, Table
from paddle_lab.trace.trees import taken


def add_kernels(record: Record, kernels: KernelCapture, keys: RecordKeys) -> None:
    """Fill the table ``kernel_times`` of a record.

    Parameters
    ----------
    record
        The record. Its ops and grad nodes are complete.
    kernels
        The kernels that the trace recorded.
    keys
        Maps the recorder's keys to rows of the record.
    """
    kernels.finish()
    owners = KernelOwners(record, kernels, keys)
    calls, on_device = kernels.calls, kernels.on_device
    by_call = owners.find(calls.start_ns, calls.thread)
    by_launch = owners.find(on_device.launch_ns, on_device.thread)
    of_call, of_launch = (_codes(found.op, found.grad_node) for found in (by_call, by_launch))
    codes = np.union1d(of_call, of_launch)
    at_call, at_launch = np.searchsorted(codes, of_call), np.searchsorted(codes, of_launch)

    def summed(rows: Int64s, values: Int64s) -> Int64s:
        found = np.zeros(len(codes) + 1, np.int64)
        np.add.at(found, rows, values)
        return found[:-1]

    def on_a_device(values: Int64s) -> Int64s:
        if not kernels.has_device:
            return np.full(len(codes), -1)
        return summed(at_launch, values)

    first_ns = np.full(len(codes) + 1, _NEVER)
    np.minimum.at(first_ns, at_call, np.maximum(calls.start_ns - by_call.start_ns, 0))
    columns: dict[str, Any] = {
        "op": np.where(codes > 0, codes - 1, -1),
        "grad_node": np.where(codes < 0, -codes - 1, -1),
        "runs": np.bincount(
            np.unique(np.stack((at_call, by_call.start_ns)), axis=1)[0], minlength=len(codes)
        ),
        "launches": summed(at_call, np.ones_like(calls.start_ns)),
        "host_ns": summed(at_call, calls.end_ns - calls.start_ns),
        "first_kernel_ns": np.where(
            (codes == _NOBODY) | (first_ns[:-1] == _NEVER), -1, first_ns[:-1]
        ),
        "device_kernels": on_a_device(np.ones_like(on_device.launch_ns)),
        "device_ns": on_a_device(on_device.duration_ns),
        "gap_ns": on_a_device(on_device.gap_ns),
    }
    if record.origin.kept:  # a kernel without an owner may belong to an op that the trace dropped
        columns = {name: column[codes != _NOBODY] for name, column in columns.items()}
    record.tables["kernel_times"] = Table.from_sequences(RECORD_TABLES["kernel_times"], columns)


def add_roofline(record: Record, paddle: Any) -> None:
    """Fill the table ``rooflines`` of a record, if the machine's peaks can be measured now."""
    found = peaks(paddle)
    if found is not None:
        strings = StringPool(record.strings)
        columns: dict[str, Any] = {
            "place": [strings[found.place]],
            "dtype": [strings[DTYPE]],
            "flops_per_second": [found.flops_per_second],
            "bytes_per_second": [found.bytes_per_second],
        }
        record.tables["rooflines"] = Table.from_sequences(RECORD_TABLES["rooflines"], columns)
        record.strings = strings.to_list()


_NOBODY = 0
_NEVER = np.iinfo(np.int64).max


def _codes(op: Int64s, grad_node: Int64s) -> Int64s:
    """Return a number for each owner: positive for an op, negative for a grad node."""
    return np.where(op >= 0, op + 1, np.where(grad_node >= 0, -grad_node - 1, _NOBODY))


class Owners(NamedTuple):
    """The owners of kernels, shape ``[kernels]`` each. At least one of both keys is -1."""

    op: Int64s
    grad_node: Int64s
    start_ns: Int64s
    """When the owner began, on the clock of ``perf_counter_ns``."""


class KernelOwners:
    """Finds the op or grad node that ran at a time.

    Parameters
    ----------
    record
        The record. Its ops and grad nodes are complete.
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
        """Return the ops and grad nodes that called kernels.

        Parameters
        ----------
        time_ns, thread
            When kernels were called, and the operating system's ids of the threads; shape
            ``[kernels]``.
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
        # An op inside a grad node (in a PyLayer) is more specific than the node. An op around the
        # node (paddle.grad) is less specific.
        is_nodes = (node >= 0) & ((op < 0) | (op_start_ns < run_start_ns))
        return Owners(
            op=np.where(is_nodes, -1, op),
            grad_node=np.where(is_nodes, node, -1),
            start_ns=np.where(is_nodes, run_start_ns, op_start_ns),
        )
