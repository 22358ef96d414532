"""Who made each block: thread, op, grad node, and through them scope, stack and phase."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.memory.backward_attribution import BackwardRuns
from paddle_lab.capture.memory.blocks import BEFORE, Blocks
from paddle_lab.capture.memory.capture import Copy, MemoryCapture
from paddle_lab.capture.memory.events import Int64s
from paddle_lab.capture.memory.op_windows import NO_OP, ops_at
from paddle_lab.capture.memory.thread_numbers import match_threads, number_all
from paddle_lab.capture.thread_state import BACKWARD, FORWARD
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
    copied_op: Int64s
    """The op that made what a copy, which is no op, has copied into the block."""


def find_owners(
    record: Record, blocks: Blocks, runs: BackwardRuns, memory: MemoryCapture, copies: list[Copy]
) -> Owners:
    """Return who made each block that was allocated during the trace.

    Inside the C++ of a backward call that is the grad node that ran, with the op that made it and
    that op's stack: the line whose gradient it is. The scope is the backward call's.
    """
    ops, scopes, calls = record.ops, record.scopes, record.backward_calls
    is_new = blocks.start_ns != BEFORE
    op_start_ns = ops["start_ns"] + memory.start_ns
    op_windows = (op_start_ns, op_start_ns + ops["duration_ns"], ops["thread"])
    numbers = match_threads(memory.thread_numbers, memory.reused_numbers, blocks, *op_windows)
    thread = np.where(is_new, number_all(numbers, blocks.thread), -1)
    op = np.where(is_new, ops_at(blocks.start_ns, thread, *op_windows), NO_OP)
    spans = np.where(is_new, runs.spans_at(blocks.start_ns, blocks.thread), -1)
    native = blocks.thread.copy()
    # Threads that run no Python (a static program's executor) work for one that does.
    is_helper = is_new & ~np.isin(native, list(numbers))
    for master, number in numbers.items():
        idle = np.flatnonzero(is_helper & (op < 0) & (spans < 0))
        times, same = blocks.start_ns[idle], np.ones(len(idle), dtype=np.int64)
        op[idle] = ops_at(times, same * number, *op_windows)
        spans[idle] = runs.spans_at(times, same * master)
        native[idle] = np.where((op[idle] >= 0) | (spans[idle] >= 0), master, native[idle])
    run = runs.runs_at(blocks.start_ns, native, spans)
    grad_node = taken(runs.run_nodes, run)
    # An op that Python called inside a grad node (a PyLayer's) is nearer than the node;
    # one around it (paddle.grad) is not.
    is_inner = (op >= 0) & (taken(op_start_ns, op) >= runs.start_ns(run))
    made_by = np.where(is_inner, op, taken(runs.run_ops, run))
    in_backward = spans >= 0
    op = np.where(in_backward & (made_by >= 0), made_by, op)
    call = taken(np.array(runs.span_calls, dtype=np.int64), spans)
    scope_of_call = np.full(len(calls), -1, dtype=np.int64)
    backward_scopes = np.flatnonzero(
        (scopes["kind"] == _BACKWARD_SCOPE) & (scopes["backward_call"] >= 0)
    )
    scope_of_call[scopes["backward_call"][backward_scopes]] = backward_scopes
    outside = in_backward & ~is_inner
    stack, scope = taken(ops["stack"], op), taken(ops["scope"], op)
    phase = np.where(op >= 0, taken(ops["phase"], op), FORWARD)
    table = np.array(copies, dtype=np.int64).reshape(-1, len(Copy._fields))
    copy = ops_at(blocks.start_ns, thread, table[:, 0], table[:, 1], table[:, 2])
    # Around an op that copies is the op; inside of it, what Python called there.
    is_copy = is_new & (copy >= 0) & (op < 0) & (run < 0)
    scope = np.where(is_copy, taken(table[:, 3], copy), scope)
    stack = np.where(is_copy, taken(table[:, 4], copy), stack)
    phase = np.where(is_copy, taken(table[:, 5], copy), phase)
    copied = np.where(is_copy, taken(table[:, 6], copy), -1)
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
        copied_op=taken(record.tensors["producer"], copied),
    )


def taken(column: Any, rows: Int64s) -> Int64s:
    """Return the column's values at ``rows``, -1 where there is no row."""
    if not len(column):
        return np.full(len(rows), -1, dtype=np.int64)
    return np.where(rows >= 0, column[rows].astype(np.int64), -1)
