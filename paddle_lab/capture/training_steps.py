"""Where training steps end."""

from __future__ import annotations

import numpy as np

from paddle_lab.capture.recorder import OPTIMIZER_STEP
from paddle_lab.trace.record import Record


def optimizer_steps(record: Record) -> list[tuple[int, int]]:
    """Return when each optimizer step ended, and its scope, by time.

    A step that runs no op has no end.

    Returns
    -------
    list of (int, int)
        Nanoseconds since the trace began, row of ``scopes``.
    """
    scopes, ops = record.scopes, record.ops
    step_of = np.where(scopes["kind"] == OPTIMIZER_STEP, np.arange(len(scopes)), -1).tolist()
    for scope, parent in enumerate(scopes["parent"].tolist()):
        if 0 <= parent < scope and step_of[parent] >= 0:
            step_of[scope] = step_of[parent]
    ends: dict[int, int] = {}
    end_ns = ops["start_ns"] + ops["duration_ns"]
    for scope, end in zip(ops["scope"].tolist(), end_ns.tolist(), strict=True):
        step = step_of[scope] if scope >= 0 else -1
        if step >= 0:
            ends[step] = max(end, ends.get(step, 0))
    return sorted((end, step) for step, end in ends.items())
