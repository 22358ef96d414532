"""Who made each block: thread, op, grad node, and through them scope, stack and phase."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.memory.attribution.backward_attribution import BackwardRuns
from paddle_lab.capture.memory.attribution.executors import find_executor_blocks
from paddle_lab.capture.memory.attribution.op_windows import NO_OP, ops_at
from paddle_lab.capture.memory.attribution.thread_numbers import match_threads, number_all
from paddle_lab.capture.memory.capture import MemoryCapture
from paddle_lab.capture.memory.handovers import Arrival, Copy
from paddle_lab.capture.memory.held.blocks import ALIVE, BEFORE, Blocks, blocks_at
from paddle_lab.capture.memory.log.events import Int64s
from paddle_lab.capture.recorder.thread_state import BACKWARD, FORWARD
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import SCOPE_KINDS

_BACKWARD_SCOPE = SCOPE_KINDS.index("backward")


@dataclass
class Owners:
    """Columns of the table ``allocations``, shape ``[blocks]`` each; -1 where there is none."""

    thread: Int64s
    op: Int64s
    grad_node: Int64s
    scope: Int64s
    stack: Int64s
    phase: Int64s
    span: Int64s
    """The backward call, of those that :class:`BackwardRuns` was given."""
    run: Int64s
    """The run of a grad node, likewise."""
    is_inner: npt.NDArray[np.bool_]
    """Whether Python called the op, inside a grad node if there is one."""
    is_copy: npt.NDArray[np.bool_]
    """Whether a call that is no op copied a tensor, or another array, into the block."""
    is_arrival: npt.NDArray[np.bool_]
    """Whether it came from elsewhere into the traced code, as a data loader's batches do."""
    copied_op: Int64s
    """Where a copy filled the block: the op that made the copied tensor."""
    is_freed_by_executor: npt.NDArray[np.bool_]
    """Whether a static program's executor allocated and freed the block."""


def find_owners(
    record: Record, blocks: Blocks, runs: BackwardRuns, memory: MemoryCapture
) -> Owners:
    """Return who made each block that was allocated during the trace.

    Inside the C++ of a backward call that is the grad node that ran, with the op that made it and
    that op's stack: the line whose gradient it is. The scope is the backward call's.
    """
    ops, scopes, calls = record.ops, record.scopes, record.backward_calls
    is_new = blocks.start_ns != BEFORE
    op_start_ns = ops["start_ns"] + memory.start_ns
    op_windows = (op_start_ns, op_start_ns + ops["duration_ns"], ops["thread"])
    scope_of_call = np.full(len(calls), -1, dtype=np.int64)
    backward_scopes = np.flatnonzero(
        (scopes["kind"] == _BACKWARD_SCOPE) & (scopes["backward_call"] >= 0)
    )
    scope_of_call[scopes["backward_call"][backward_scopes]] = backward_scopes
    known = memory.threads.numbers | {
        native: int(scopes["thread"][scope_of_call[call]])
        for native, call in runs.calls_of_threads()
        if scope_of_call[call] >= 0
    }
    numbers = match_threads(known, memory.threads.reused, blocks, *op_windows)
    thread = np.where(is_new, number_all(numbers, blocks.thread), -1)
    op = np.where(is_new, ops_at(blocks.start_ns, thread, *op_windows), NO_OP)
    spans = np.where(is_new, runs.spans_at(blocks.start_ns, blocks.thread), -1)
    native = blocks.thread.copy()
    python_threads = [*numbers, *memory.threads.of_python]
    others = np.flatnonzero(is_new & ~np.isin(native, python_threads))
    executors = find_executor_blocks(record, blocks, others, runs, numbers, op_windows)
    is_executors = np.zeros(len(blocks), np.bool_)
    is_executors[executors.block] = True
    op[executors.block], spans[executors.block] = executors.op, executors.span
    native[executors.block] = executors.native
    run = runs.runs_at(blocks.start_ns, native, spans)
    grad_node = taken(runs.run_nodes, run)
    # An op that Python called inside a grad node (a PyLayer's) is nearer than the node;
    # one around it (paddle.grad) is not.
    is_inner = (op >= 0) & (taken(op_start_ns, op) >= runs.start_ns(run))
    made_by = np.where(is_inner, op, taken(runs.run_ops, run))
    in_backward = spans >= 0
    op = np.where(in_backward & (made_by >= 0), made_by, op)
    call = taken(np.array(runs.span_calls, dtype=np.int64), spans)
    outside = in_backward & ~is_inner
    stack, scope = taken(ops["stack"], op), taken(ops["scope"], op)
    phase = np.where(op >= 0, taken(ops["phase"], op), FORWARD)
    table = np.array(memory.handovers.copies, dtype=np.int64).reshape(-1, len(Copy._fields))
    copy = ops_at(blocks.start_ns, thread, table[:, 0], table[:, 1], table[:, 2])
    # Around an op that copies is the op; inside of it, what Python called there.
    is_copy = is_new & (copy >= 0) & (op < 0) & (run < 0)
    scope = np.where(is_copy, taken(table[:, 3], copy), scope)
    stack = np.where(is_copy, taken(table[:, 4], copy), stack)
    phase = np.where(is_copy, taken(table[:, 5], copy), phase)
    copied = np.where(is_copy, taken(table[:, 6], copy), -1)
    table = np.array(memory.handovers.arrivals, np.int64).reshape(-1, len(Arrival._fields))
    arrived = blocks_at(blocks, table[:, 0], table[:, 1])
    arrival = np.full(len(blocks), -1, np.int64)
    arrival[arrived[arrived >= 0]] = np.flatnonzero(arrived >= 0)
    is_arrival = is_new & (arrival >= 0) & (op < 0) & (run < 0) & ~is_copy
    scope = np.where(is_arrival, taken(table[:, 2], arrival), scope)
    stack = np.where(is_arrival, taken(table[:, 3], arrival), stack)
    phase = np.where(is_arrival, taken(table[:, 4], arrival), phase)
    return Owners(
        thread=thread,
        op=op,
        grad_node=grad_node,
        scope=np.where(outside, taken(scope_of_call, call), scope),
        stack=np.where((stack < 0) & in_backward, taken(calls["stack"], call), stack),
        phase=np.where(in_backward, BACKWARD, phase),
        span=spans,
        run=run,
        is_inner=is_inner,
        is_copy=is_copy,
        is_arrival=is_arrival,
        copied_op=taken(record.tensors["producer"], copied),
        is_freed_by_executor=is_executors
        & (blocks.end_ns != ALIVE)
        & ~np.isin(blocks.end_thread, python_threads),
    )


def taken(column: Any, rows: Int64s) -> Int64s:
    """Return the column's values at ``rows``, -1 where there is no row."""
    if not len(column):
        return np.full(len(rows), -1, dtype=np.int64)
    return np.where(rows >= 0, column[rows].astype(np.int64), -1)
