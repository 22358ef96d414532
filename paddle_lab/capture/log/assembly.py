"""Fills the record's table ``log``: each entry with the op or grad node that wrote it.

An entry says when and in which thread it was written, and an op's row says when and in which thread
the op ran, so the op is known. In a backward call the log itself names the next grad node.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from paddle_lab.capture.log.backward_log import BackwardLog
from paddle_lab.capture.log.capture import LogCapture
from paddle_lab.capture.memory.attribution.backward_runs import innermost
from paddle_lab.capture.native import native_twin
from paddle_lab.capture.recorder.recorder import Recorder
from paddle_lab.trace.log_text import Int64s, LogEntries, read_log, split_log
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.trace.table import StringPool, Table
from paddle_lab.trace.trees import taken

_EARLY_NS: Final = 2000
"""An entry's time may be too early by this much: glog reads the clock in whole microseconds
(``WallTime_Now``), and the fraction of the second that it computes from a double may be one less
(``LogMessageTime::init``). Two ops are further apart, because recording takes longer."""
_SPLIT: Final = native_twin(split_log)
_EXECUTOR: Final = ("pir_interpreter.cc", "nonblocking_threadpool.h")
"""Source files of Paddle. Every thread of an executor writes entries from one of these."""


def add_log(record: Record, log: LogCapture, recorder: Recorder) -> None:
    """Fill the table ``log`` of a record whose ops and grad nodes are complete."""
    entries = read_log(log.text, year=log.year, split=_SPLIT)
    log.text = b""
    time_ns = entries.wall_ns - log.offset_ns - recorder.start_ns
    numbers = recorder.thread_numbers()
    thread = _mapped(entries.native_thread, numbers)
    op, call, is_backward = _running(record, time_ns, _callers(record, entries, thread))
    # What an executor's thread does after an op has ended belongs to no op.
    op[(thread < 0) & ~np.isin(op, record.programs["op"])] = -1
    regions_ns = [
        (start - recorder.start_ns, end - recorder.start_ns) for start, end in log.regions
    ]
    backward = BackwardLog(record, entries, time_ns, regions_ns)
    calls = np.where(is_backward, taken(record.backward_times["backward_call"], call), -1)
    nodes = backward.nodes(calls)
    level = _levels(log, time_ns + recorder.start_ns)
    # A region's level is set again whenever a grad node from this region runs.
    made_level = _levels(log, taken(backward.made_ns, nodes) + recorder.start_ns)
    is_again = (nodes >= 0) & (taken(backward.is_logged.astype(np.int64), nodes) > 0)
    level = np.where(is_again, np.maximum(level, made_level), level)
    strings = StringPool(record.strings)
    columns: dict[str, Any] = {
        "op": np.where(is_backward, -1, op),
        "grad_node": nodes,
        "thread": thread,
        "time_ns": time_ns,
        "level": level,
        "severity": strings.codes(entries.severity),
        "source_file": strings.codes(entries.file),
        "source_line": entries.line,
        "text": strings.codes(entries.text),
    }
    # If a grad node was made outside of a region, Paddle does not define its log level.
    asked = (level > 0) | (np.array(entries.severity) != "I")
    kept = {name: np.asarray(column)[asked] for name, column in columns.items()}
    record.tables["log"] = Table.from_sequences(RECORD_TABLES["log"], kept)
    record.strings = strings.to_list()


def _mapped(native: Int64s, numbers: dict[int, int]) -> Int64s:
    distinct, inverse = np.unique(native, return_inverse=True)
    found: Int64s = np.array([numbers.get(one, -1) for one in distinct.tolist()], np.int64)[inverse]
    return found


def _callers(record: Record, entries: LogEntries, thread: Int64s) -> Int64s:
    """Return the threads of the ops; for an executor's thread, the thread that ran the program."""
    callers = np.unique(record.ops["thread"][record.programs["op"]])
    if len(callers) != 1:
        return thread
    is_executor = np.array([file in _EXECUTOR for file in entries.file], bool)
    working = np.isin(entries.native_thread, entries.native_thread[is_executor])
    return np.where((thread < 0) & working, callers[0], thread)


def _running(record: Record, time_ns: Int64s, thread: Int64s) -> tuple[Int64s, Int64s, Any]:
    """Return the op and backward call around each entry, and whether the call is the inner one."""
    ops, calls = record.ops, record.backward_times
    windows = []
    for rows in (ops, calls):
        end_ns = rows["start_ns"] + rows["duration_ns"]
        windows.append((rows["start_ns"] - _EARLY_NS, end_ns, rows["thread"]))
    op = innermost(time_ns, thread, *windows[0])
    call = innermost(time_ns, thread, *windows[1])
    # An op inside a backward call (a PyLayer's) is more specific than the call. An op around the
    # call (paddle.grad) is less specific.
    starts = taken(ops["start_ns"], op), taken(calls["start_ns"], call)
    return op, call, (call >= 0) & ((op < 0) | (starts[0] <= starts[1]))


def _levels(log: LogCapture, perf_ns: Int64s) -> Int64s:
    """Return the log level at each moment."""
    times = np.array([time for time, _ in log.changes], np.int64)
    levels = np.array([0, *(level for _, level in log.changes)], np.int64)
    found: Int64s = levels[np.searchsorted(times, perf_ns + _EARLY_NS, side="right")]
    return found
