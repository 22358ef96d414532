"""Threads of static programs' executors: they run no Python, and work for an op that waits.

Other threads without ops work for no op: a data loader's thread makes batches while ops of other
threads run, and its blocks do not belong to these ops. A thread is an executor's if a static
program ran during each of its allocations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paddle_lab.capture.memory.attribution.backward_runs import BackwardRuns
from paddle_lab.capture.memory.attribution.innermost import innermost
from paddle_lab.capture.memory.held.blocks import Blocks, taken
from paddle_lab.capture.memory.log.events import Int64s, Mask
from paddle_lab.trace.record import Record

_PROGRAM = "run_program"
"""Part of the name of every op that runs a static program."""

OpWindows = tuple[Int64s, Int64s, Int64s]
"""When ops began and ended, and in which thread by the trace's number; shape ``[ops]`` each."""


class Waiters(NamedTuple):
    """The ops and calls that waited for executors; shape ``[blocks]``, -1 for other blocks."""

    op: Int64s
    """The op that waited, -1 if it was a grad node."""
    span: Int64s
    """The backward call, or -1."""
    native: Int64s
    """The thread that waited, by the operating system's id."""


def find_waiters(
    record: Record,
    blocks: Blocks,
    runs: BackwardRuns,
    is_others: Mask,
    numbers: dict[int, int],
    op_windows: OpWindows,
) -> Waiters:
    """Return which op or backward call waited for the executor that allocated each block.

    Parameters
    ----------
    record
        Has the ops.
    blocks
        All blocks.
    runs
        The grad nodes that ran.
    is_others
        Which blocks were allocated in threads that ran no op.
    numbers
        The operating system's ids of threads that ran ops to the trace's numbers.
    op_windows
        When the ops ran, on the clock of the blocks.
    """
    codes = [code for code, name in enumerate(record.strings) if _PROGRAM in name]
    is_program = np.isin(record.ops["name"], codes)
    found = Waiters(*np.full((3, len(blocks)), -1))
    others = np.flatnonzero(is_others)
    times = blocks.start_ns[others]
    for native, number in numbers.items() if is_program.any() or runs.is_program.any() else ():
        op = innermost(times, np.full(len(others), number), *op_windows)
        in_thread = np.full(len(others), native)
        span = runs.spans_at(times, in_thread)
        run = runs.runs_at(times, in_thread, span)
        waits = (taken(is_program, op) > 0) | (taken(runs.is_program, run) > 0)
        waits &= found.native[others] < 0
        its = others[waits]
        found.op[its], found.span[its], found.native[its] = op[waits], span[waits], native
    works_for_nobody = np.isin(blocks.thread, blocks.thread[is_others & (found.native < 0)])
    for column in found:
        column[works_for_nobody] = -1
    return found
