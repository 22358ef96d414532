"""Threads of static programs' executors: they run no Python, and work for an op that waits.

Other threads run no op either (a data loader's, which makes batches), and work for nobody: what
they allocate while some op happens to run is not that op's. A thread is an executor's if all that
it allocated was while a static program ran.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.memory.attribution.backward_attribution import BackwardRuns
from paddle_lab.capture.memory.attribution.op_windows import NO_OP, ops_at
from paddle_lab.capture.memory.held.blocks import Blocks
from paddle_lab.capture.memory.log.events import Int64s
from paddle_lab.trace.record import Record

_PROGRAM = "run_program"
"""Part of the name of every op that runs a static program."""

OpWindows = tuple[Int64s, Int64s, Int64s]
"""When ops began and ended, and in which thread by the trace's number; shape ``[ops]`` each."""


class ExecutorBlocks(NamedTuple):
    """What executors allocated; arrays of shape ``[found]``."""

    block: Int64s
    op: Int64s
    """The op that waited, -1 where a grad node did."""
    span: Int64s
    """The backward call, or -1."""
    native: Int64s
    """The thread that waited, by the operating system's id."""


def find_executor_blocks(
    record: Record,
    blocks: Blocks,
    candidates: Int64s,
    runs: BackwardRuns,
    numbers: dict[int, int],
    op_windows: OpWindows,
) -> ExecutorBlocks:
    """Return which of some blocks executors allocated, and for whom.

    Parameters
    ----------
    record
        Has the ops.
    blocks
        All blocks.
    candidates
        Those that were allocated in threads that ran no op.
    runs
        The grad nodes that ran.
    numbers
        The operating system's ids of threads that ran ops to the trace's numbers.
    op_windows
        When the ops ran, on the clock of the blocks.
    """
    runs_program = np.append(_run_programs(record), np.False_)
    times = blocks.start_ns[candidates]
    op, span, native = (np.full(len(candidates), NO_OP, np.int64) for _ in range(3))
    if runs_program.any() or runs.run_programs.any():
        for master, number in numbers.items():
            same = np.ones(len(candidates), np.int64)
            its_op = ops_at(times, same * number, *op_windows)
            its_span = runs.spans_at(times, same * master)
            in_node = runs.is_program(runs.runs_at(times, same * master, its_span))
            is_its = (native < 0) & (runs_program[its_op] | in_node)
            op[is_its], span[is_its], native[is_its] = its_op[is_its], its_span[is_its], master
    of_thread = blocks.thread[candidates]
    others = np.unique(of_thread[native < 0])
    is_executors = ~np.isin(of_thread, others)
    return ExecutorBlocks(*(column[is_executors] for column in (candidates, op, span, native)))


def _run_programs(record: Record) -> npt.NDArray[np.bool_]:
    """Return which ops run a static program, bool, shape ``[ops]``."""
    codes = [code for code, name in enumerate(record.strings) if _PROGRAM in name]
    is_program: npt.NDArray[np.bool_] = np.isin(record.ops["name"], codes)
    return is_program
