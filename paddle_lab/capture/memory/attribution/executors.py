"""Threads of static programs' executors. They run no Python, and work for an op that waits.

Other threads without ops do not work for an op: a data loader's thread makes batches while other
threads run ops, and its blocks do not belong to these ops. A thread is an executor's if a static
program was running at each of its allocations, or at each of its kernels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paddle_lab.capture.memory.attribution.backward_runs import BackwardRuns, innermost
from paddle_lab.capture.memory.log.events import Int64s, Mask
from paddle_lab.trace.record import Record
from paddle_lab.trace.trees import taken

_PROGRAM = "run_program"
"""Text that the name of every op that runs a static program contains."""

OpWindows = tuple[Int64s, Int64s, Int64s]
"""When ops began and ended, and the trace's number of their thread; shape ``[ops]`` each."""


class Waiters(NamedTuple):
    """The ops and calls that waited for executors; shape ``[moments]``, -1 for other moments."""

    op: Int64s
    """The op that waited, -1 if a grad node waited."""
    span: Int64s
    """The backward call, or -1."""
    native: Int64s
    """The operating system's id of the thread that waited."""


def find_waiters(
    record: Record,
    time_ns: Int64s,
    thread: Int64s,
    runs: BackwardRuns,
    is_others: Mask,
    numbers: dict[int, int],
    op_windows: OpWindows,
) -> Waiters:
    """Return which op or backward call waited for the executor that worked at each moment.

    Parameters
    ----------
    record
        Has the ops.
    time_ns, thread
        When and in which thread something happened: a block was allocated, a kernel was called.
    runs
        The grad nodes that ran.
    is_others
        Which moments are in threads that ran no op.
    numbers
        From the operating system's ids to the trace's numbers, for threads that ran ops.
    op_windows
        When the ops ran, on the clock of ``time_ns``.
    """
    codes = [code for code, name in enumerate(record.strings) if _PROGRAM in name]
    is_program = np.isin(record.ops["name"], codes)
    found = Waiters(*np.full((3, len(time_ns)), -1))
    others = np.flatnonzero(is_others)
    times = time_ns[others]
    for native, number in numbers.items() if is_program.any() or runs.is_program.any() else ():
        op = innermost(times, np.full(len(others), number), *op_windows)
        in_thread = np.full(len(others), native)
        span = runs.spans_at(times, in_thread)
        run = runs.runs_at(times, in_thread, span)
        waits = (taken(is_program, op) > 0) | (taken(runs.is_program, run) > 0)
        waits &= found.native[others] < 0
        its = others[waits]
        found.op[its], found.span[its], found.native[its] = op[waits], span[waits], native
    works_for_nobody = np.isin(thread, thread[is_others & (found.native < 0)])
    for column in found:
        column[works_for_nobody] = -1
    return found
