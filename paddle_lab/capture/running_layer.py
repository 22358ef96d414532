"""Which layer's call is running, as seen from another thread."""

from __future__ import annotations

import threading

from paddle_lab.capture.sinks import SINKS


def running_layer() -> str:
    """Return the path of the layer that runs in the main thread of the innermost open trace.

    Returns
    -------
    path
        A layer's path in its root, a root's class; ``""`` outside layers and where no trace runs.
    """
    active = SINKS.active
    if not active:
        return ""
    recorder = active[-1]
    state = recorder.threads.get(threading.main_thread().ident or 0)
    key = -1 if state is None else state.layer
    rows = recorder.layers.rows
    if not 0 <= key < len(rows):
        return ""
    _, path, class_name, _, _ = rows[key]
    return str(path or class_name)
