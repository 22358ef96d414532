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
    """Return the path of the layer that the main thread is running, within its root.

    The root is the outermost running layer. Only the thread's frames are read, so calls need no
    hooks and cost nothing. No frame is kept. Only the variables of ``Layer.__call__`` are read.
    Before Python 3.13 the frame keeps the read variables until it ends, but they are only the
    call's own arguments.

    Returns
    -------
    path
        As in ``named_sublayers``; the class name of a root, or of a layer without a root; ``""``
        outside of layers.
    """
    running = running_layers(thread_frame(threading.main_thread().ident or 0))
    return path_within(running[-1], running[0]) if running else ""


def running_layers(frame: FrameType | None) -> list[Any]:
    """Return the layers whose ``forward`` is running at a frame, the innermost first."""
    layer_class = getattr(sys.modules.get(_LAYER_MODULE), "Layer", None)
    if layer_class is None:  # Paddle is not imported yet
        return []
    # The layer's ``__call__`` is wrapped while a trace is open, but ``forward`` never is.
    return list(_running(layer_class.forward.__code__.co_filename, frame))


def path_within(root: Any, layer: Any) -> str:
    """Return the path of a layer inside ``root``; the class name if the layer is not inside."""
    try:
        paths = (path for path, sublayer in root.named_sublayers() if sublayer is layer)
        return next(paths, type(layer).__name__)
    except Exception:  # noqa: BLE001  (the main thread adds a layer meanwhile; or the user's own)
        return type(layer).__name__


def _running(file: str, frame: FrameType | None) -> Iterator[Any]:
    """Yield the running layers, innermost first. ``file`` is the file of ``Layer.__call__``."""
    while frame is not None:
        code = frame.f_code
        name = code.co_name
        if name == "<module>":  # a cell, and no layer has called it
            return
        if name == "__call__" and code.co_filename == file:
            yield frame.f_locals["self"]
        frame = frame.f_back


@native_twin
def thread_frame(ident: int) -> FrameType | None:
    """Return a thread's innermost frame, ``None`` if it runs no Python.

    Parameters
    ----------
    ident
        The identity of the thread.
    """
    return thread_frames().get(ident)
