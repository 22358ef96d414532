"""How each block ended: in the op that allocated it, in a backward call, or not at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paddle_lab.capture.memory.attribution.backward_runs import BackwardRuns
from paddle_lab.capture.memory.attribution.owners import Owners
from paddle_lab.capture.memory.held.blocks import ALIVE, Blocks, taken
from paddle_lab.capture.memory.log.events import Mask
from paddle_lab.trace.record import Record


@dataclass
class Lifetimes:
    """How blocks ended; arrays of shape ``[blocks]``."""

    ends_in_maker: Mask
    """Freed by the op, or the run of the grad node, that allocated it."""
    ends_in_node: Mask
    """Freed before the end of the grad node's run that allocated it."""
    ends_in_backward: Mask
    """Freed during a backward call that began after it was allocated."""
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
    end_spans = np.where(ended, runs.spans_at(blocks.end_ns, blocks.end_thread), -1)
    end_runs = runs.runs_at(blocks.end_ns, blocks.end_thread, end_spans)
    # An executor frees in threads of its own, also after its op has returned. A block that it frees
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
