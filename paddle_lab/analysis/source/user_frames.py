"""The frame of a stack that a person wants to see first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.graph.trees import Keys, nearest_marked
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import FRAME_KINDS

USER, LIBRARY = FRAME_KINDS.index("user"), FRAME_KINDS.index("library")


def stack_frames(record: Record) -> Keys:
    """Return the frame shown first of each stack, int32, shape ``[stacks]``.

    Where no frame is the user's own, the innermost library frame, else the innermost frame of all.
    """
    frame, caller = record.stacks["frame"], record.stacks["caller"]
    kind = _frame_kinds(record)
    best = frame
    for wanted in (LIBRARY, USER):
        found = nearest_marked(caller, kind == wanted)
        best = np.where(found >= 0, frame[found], best)
    return best.astype(np.int32)


def user_stacks(record: Record) -> Keys:
    """Return, for each stack, the stack of its innermost user frame; -1 where it has none."""
    return nearest_marked(record.stacks["caller"], _frame_kinds(record) == USER)


def _frame_kinds(record: Record) -> npt.NDArray[np.int16]:
    """Return the kind of each stack's innermost frame; -1 for a stack without a frame."""
    kinds = np.append(record.frames["kind"].astype(np.int16), -1)
    return np.take(kinds, record.stacks["frame"])
