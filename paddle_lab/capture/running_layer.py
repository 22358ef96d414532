"""Finds the layer whose call is running, from another thread."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any, Final

from paddle_lab.capture.native import native_twin
from paddle_lab.garbage import thread_frames

_LAYER_MODULE: Final = "paddle.nn.layer.layers"


def running_layer() -> str:
    """Return the path of the layer that runs in the main thread, in its root.

    The root is the outermost layer that runs. This looks at the thread's frames, so calls are not
    hooked and cost nothing. No frame is kept. Only the variables of ``Layer.__call__`` are read.
    Before Python 3.13 they stay with the frame until it ends, but they hold only the call's own
    arguments.

    Returns
    -------
    path
        As ``named_sublayers`` gives it; the class of a root, or of a layer that no root holds;
        ``""`` outside of layers.
    """
    layer_class = getattr(sys.modules.get(_LAYER_MODULE), "Layer", None)
    if layer_class is None:  # Paddle is not imported yet
        return ""
    # ``__call__`` is wrapped while a trace is open; this method never is.
    running = list(_running(layer_class.forward.__code__.co_filename))
    if not running:
        return ""
    layer, root = running[0], running[-1]
    try:
        paths = (path for path, sublayer in root.named_sublayers() if sublayer is layer)
        return next(paths, type(layer).__name__)
    except Exception:  # noqa: BLE001  (the main thread adds a layer meanwhile; or the user's own)
        return type(layer).__name__


def _running(file: str) -> Iterator[Any]:
    """Yield the layers whose calls run, innermost first, by the file of ``Layer.__call__``."""
    frame = thread_frame(threading.main_thread().ident or 0)
    while frame is not None:
        code = frame.f_code
        name = code.co_name
        if name == "<module>":  # a cell; its callers are not layers
            return
        if name == "__call__" and code.co_filename == file:
            yield frame.f_locals["self"]
        frame = frame.f_back


@native_twin
def thread_frame(ident: int) -> FrameType | None:
    """Return the innermost frame that a thread runs, ``None`` if it runs none.

    Parameters
    ----------
    ident
        The identity of the thread.
    """
    return thread_frames().get(ident)
