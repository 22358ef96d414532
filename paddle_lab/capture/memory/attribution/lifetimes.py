"""How each block ended: in the op that allocated it, in a backward call, or not at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.memory.attribution.backward_attribution import BackwardRuns
from paddle_lab.capture.memory.attribution.owners import Owners, taken
from paddle_lab.capture.memory.capture import MemoryCapture
from paddle_lab.capture.memory.held.blocks import ALIVE, Blocks
from paddle_lab.trace.record import Record

Bools = npt.NDArray[np.bool_]


@dataclass
class Lifetimes:
    """What a block lived to see; arrays of shape ``[blocks]``."""

    ends_in_maker: Bools
    """Freed by the op, or the run of the grad node, that allocated it."""
    ends_in_node: Bools
    """Freed before the run of the grad node ended in which it was allocated."""
    ends_in_backward: Bools
    """Freed during a backward call that began after it was allocated."""
    ends_in_accumulation: Bools
    """Freed by a node that accumulates a gradient."""
    is_held_by_tensor: Bools
    """A tensor that is still alive is stored in it."""


def find_lifetimes(
    record: Record, blocks: Blocks, owners: Owners, backward: BackwardRuns, memory: MemoryCapture
) -> Lifetimes:
    """Return how each block ended; which tensors live is for the caller to fill in."""
    ops = record.ops
    ended = blocks.end_ns != ALIVE
    op_end_ns = taken(ops["start_ns"] + ops["duration_ns"] + memory.start_ns, owners.op)
    is_python_op = (owners.run < 0) | owners.is_inner
    maker_end_ns = np.where(is_python_op, op_end_ns, backward.end_ns(owners.run))
    end_spans = np.where(ended, backward.spans_at(blocks.end_ns, blocks.end_thread), -1)
    end_runs = backward.runs_at(blocks.end_ns, blocks.end_thread, end_spans)
    ends_in_maker = ended & (blocks.end_ns <= maker_end_ns)
    ends_in_backward = (end_spans >= 0) & (end_spans != owners.span)
    # An executor frees in threads of its own, and goes on to when its op has returned.
    by_executor = owners.is_freed_by_executor
    is_saved = backward.begins_between(blocks.start_ns, blocks.end_ns)
    return Lifetimes(
        ends_in_maker=np.where(by_executor, ~is_saved, ends_in_maker),
        ends_in_node=ended & (owners.run >= 0) & (blocks.end_ns <= backward.end_ns(owners.run)),
        ends_in_backward=np.where(by_executor, is_saved, ends_in_backward),
        ends_in_accumulation=(end_runs >= 0) & backward.accumulates(end_runs),
        is_held_by_tensor=np.zeros(len(blocks), dtype=bool),
    )
