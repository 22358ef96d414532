"""The ends of training steps."""

from __future__ import annotations

import numpy as np

from paddle_lab.capture.recorder.recorder import OPTIMIZER_STEP
from paddle_lab.trace.record import Record


def optimizer_steps(record: Record) -> list[tuple[int, int]]:
    """Return when each optimizer step ended, and its scope, by time.

    A step without ops has no end.

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
    step = np.array([*step_of, -1], np.int64)[ops["scope"]]  # an op may be in no scope: -1
    is_inside = step >= 0
    step = step[is_inside]
    end_ns = np.zeros(len(scopes), np.int64)
    np.maximum.at(end_ns, step, (ops["start_ns"] + ops["duration_ns"])[is_inside])
    steps = np.unique(step)
    return sorted(zip(end_ns[steps].tolist(), steps.tolist(), strict=True))
