"""Finds what allocated each block: thread, op and grad node, and then scope, stack and phase."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from paddle_lab.capture.memory.attribution.backward_runs import BackwardRuns, innermost
from paddle_lab.capture.memory.attribution.executors import find_waiters
from paddle_lab.capture.memory.capture import MemoryCapture
from paddle_lab.capture.memory.held.blocks import ALIVE, BEFORE, Blocks, blocks_at
from paddle_lab.capture.memory.log.events import Int64s, Mask
from paddle_lab.capture.memory.storages import Handover
from paddle_lab.capture.recorder.thread_state import BACKWARD, FORWARD
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import SCOPE_KINDS
from paddle_lab.trace.trees import taken

_BACKWARD_SCOPE = SCOPE_KINDS.index("backward")


@dataclass
class Owners:
    """Columns of the table ``allocations``, shape ``[blocks]`` each; -1 for none."""

    thread: Int64s
    op: Int64s
    grad_node: Int64s
    scope: Int64s
    stack: Int64s
    phase: Int64s
    span: Int64s
    """The position of the backward call in :class:`BackwardRuns`."""
    run: Int64s
    """The position of the grad node's run in :class:`BackwardRuns`."""
    is_inner: Mask
    """Whether Python called the op, perhaps inside a grad node."""
    is_copy: Mask
    """Whether a call that is not an op copied a tensor or an array into the block."""
    copy_end_ns: Int64s
    """When this call ended."""
    is_arrival: Mask
    """Whether other code, such as a data loader, gave the memory to the traced code."""
    copied_op: Int64s
    """For a copy, the op that made the copied tensor."""
    is_freed_by_executor: Mask
    """Whether a static program's executor allocated and freed the block."""


def find_owners(
    record: Record, blocks: Blocks, runs: BackwardRuns, memory: MemoryCapture
) -> Owners:
    """Return what allocated each block of the trace.

    Inside the C++ of a backward call, the owner is the grad node that ran, with the op that made
    the node and the stack of that op. The scope is the backward call's.
    """
    ops, calls = record.ops, record.backward_calls
    is_new = blocks.start_ns != BEFORE
    op_start_ns = ops["start_ns"] + memory.start_ns
    op_windows = (op_start_ns, op_start_ns + ops["duration_ns"], ops["thread"])
    numbers = memory.recorder.thread_numbers()
    thread = np.where(is_new, _number_all(numbers, blocks.thread), -1)
    python_threads = [*numbers, *memory.python_threads]
    is_others = is_new & ~np.isin(blocks.thread, python_threads)
    waiters = find_waiters(
        record, blocks.start_ns, blocks.thread, runs, is_others, numbers, op_windows
    )
    is_executors = waiters.native >= 0
    op = np.where(is_new, innermost(blocks.start_ns, thread, *op_windows), -1)
    op = np.where(is_executors, waiters.op, op)
    span = np.where(is_new, runs.spans_at(blocks.start_ns, blocks.thread), -1)
    span = np.where(is_executors, waiters.span, span)
    native = np.where(is_executors, waiters.native, blocks.thread)
    run = runs.runs_at(blocks.start_ns, native, span)
    # An op that Python called inside a grad node (a PyLayer's) is more specific than the node. An
    # op around the node (paddle.grad) is less specific.
    is_inner = (op >= 0) & (taken(op_start_ns, op) >= taken(runs.start_ns, run))
    made_by = np.where(is_inner, op, taken(runs.op, run))
    in_backward = span >= 0
    op = np.where(in_backward & (made_by >= 0), made_by, op)

    handed: Any = Handover(*np.array(memory.handovers.noted, np.int64).reshape(-1, 8).T)
    # A copy or an arrival owns a block only outside of ops and grad nodes.
    is_open = is_new & (op < 0) & (run < 0)
    copies, arrivals = np.flatnonzero(handed.address == 0), np.flatnonzero(handed.address)
    windows = (handed.start_ns[copies], handed.end_ns[copies], handed.thread[copies])
    copy = taken(copies, innermost(blocks.start_ns, thread, *windows))
    arrived = blocks_at(blocks, handed.address[arrivals], handed.start_ns[arrivals])
    arrival = np.full(len(blocks), -1, np.int64)
    arrival[arrived[arrived >= 0]] = arrivals[arrived >= 0]
    is_copy = is_open & (copy >= 0)
    is_arrival = is_open & (arrival >= 0) & ~is_copy
    handover = np.where(is_copy, copy, np.where(is_arrival, arrival, -1))
    scope, stack, phase = (
        np.where(op >= 0, taken(ops[name], op), taken(getattr(handed, name), handover))
        for name in ("scope", "stack", "phase")
    )

    call = taken(runs.calls, span)
    is_outside = in_backward & ~is_inner
    return Owners(
        thread=thread,
        op=op,
        grad_node=taken(runs.node, run),
        scope=np.where(is_outside, taken(_scopes_of_calls(record), call), scope),
        stack=np.where((stack < 0) & in_backward, taken(calls["stack"], call), stack),
        phase=np.where(in_backward, BACKWARD, np.where(phase < 0, FORWARD, phase)),
        span=span,
        run=run,
        is_inner=is_inner,
        is_copy=is_copy,
        copy_end_ns=taken(handed.end_ns, copy),
        is_arrival=is_arrival,
        copied_op=taken(record.tensors["producer"], taken(handed.tensor, handover)),
        is_freed_by_executor=is_executors
        & (blocks.end_ns != ALIVE)
        & ~np.isin(blocks.end_thread, python_threads),
    )


def _scopes_of_calls(record: Record) -> Int64s:
    """Return the scope of each backward call, -1 for none."""
    scopes = record.scopes
    found = np.full(len(record.backward_calls), -1, dtype=np.int64)
    rows = np.flatnonzero((scopes["kind"] == _BACKWARD_SCOPE) & (scopes["backward_call"] >= 0))
    found[scopes["backward_call"][rows]] = rows
    return found


def _number_all(numbers: dict[int, int], native: Int64s) -> Int64s:
    """Return the trace's numbers of threads; threads without a number get the next ones."""
    distinct, inverse = np.unique(native, return_inverse=True)
    unknown = [one for one in distinct.tolist() if one not in numbers]
    first = max(numbers.values(), default=-1) + 1
    all_numbers = numbers | {one: first + count for count, one in enumerate(unknown)}
    return np.array([all_numbers[one] for one in distinct.tolist()], dtype=np.int64)[inverse]


@dataclass
class Lifetimes:
    """How the lifetime of each block ended; arrays of shape ``[blocks]``."""

    ends_in_maker: Mask
    """Freed by the op or copy that allocated it, or by the same run of a grad node."""
    ends_in_node: Mask
    """The block was freed before the end of the grad node's run that allocated it."""
    ends_in_backward: Mask
    """The block was freed during a backward call that began after the allocation."""
    ends_in_accumulation: Mask
    """Freed by a node that accumulates a gradient."""


def find_lifetimes(
    record: Record, blocks: Blocks, owners: Owners, runs: BackwardRuns, start_ns: int
) -> Lifetimes:
    """Return how each block ended.

    Parameters
    ----------
    start_ns
        When the trace began.
    """
    ops = record.ops
    ended = blocks.end_ns != ALIVE
    op_end_ns = taken(ops["start_ns"] + ops["duration_ns"] + start_ns, owners.op)
    run_end_ns = taken(runs.end_ns, owners.run)
    maker_end_ns = np.where((owners.run < 0) | owners.is_inner, op_end_ns, run_end_ns)
    maker_end_ns = np.where(owners.is_copy, owners.copy_end_ns, maker_end_ns)
    end_spans = np.where(ended, runs.spans_at(blocks.end_ns, blocks.end_thread), -1)
    end_runs = runs.runs_at(blocks.end_ns, blocks.end_thread, end_spans)
    # An executor frees in its own threads, also after its op has returned. A block that it frees
    # after a backward call has begun was saved for this call.
    begins_ns = np.sort(runs.spans[0])
    begun = np.searchsorted(begins_ns, blocks.end_ns, side="right")
    is_saved = np.searchsorted(begins_ns, blocks.start_ns) < begun
    by_executor = owners.is_freed_by_executor
    return Lifetimes(
        ends_in_maker=np.where(by_executor, ~is_saved, ended & (blocks.end_ns <= maker_end_ns)),
        ends_in_node=ended & (owners.run >= 0) & (blocks.end_ns <= run_end_ns),
        ends_in_backward=np.where(
            by_executor, is_saved, (end_spans >= 0) & (end_spans != owners.span)
        ),
        ends_in_accumulation=taken(runs.accumulates, end_runs) > 0,
    )
