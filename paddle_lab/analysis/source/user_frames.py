"""The frame of a stack that a person wants to see first."""

from __future__ import annotations

import numpy as np

from paddle_lab.analysis.graph.trees import Keys, nearest_marked, taken
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import FRAME_KINDS

USER, LIBRARY = FRAME_KINDS.index("user"), FRAME_KINDS.index("library")


def stack_frames(record: Record) -> Keys:
    """Return the frame shown first of each stack, int32, shape ``[stacks]``.

    Where no frame is the user's own, the innermost library frame, else the innermost frame of all.
    """
    frame, caller = record.stacks["frame"], record.stacks["caller"]
    kind = taken(record.frames["kind"], frame)
    best = frame
    for wanted in (LIBRARY, USER):
        found = nearest_marked(caller, kind == wanted)
        best = np.where(found >= 0, frame[found], best)
    return best.astype(np.int32)
