"""Finds the layer that is running. Another thread can call this."""

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
    """Return the path of the layer that is running in the main thread, inside its root.

    The root is the outermost running layer. Only the thread's frames are read, so no hooks are
    needed. Of the variables, only those of ``Layer.__call__`` are read. Before Python 3.13 the
    frame then keeps them alive until it ends, but these are only the arguments of the call.

    Returns
    -------
    path
        The path as in ``named_sublayers``. For the root itself it is the name of its class. Outside
        of layers it is ``""``.
    """
    running = running_layers(thread_frame(threading.main_thread().ident or 0))
    return path_within(running[-1], running[0]) if running else ""


def running_layers(frame: FrameType | None) -> list[Any]:
    """Return the layers whose ``forward`` is running, seen from a frame, the innermost first."""
    layer_class = getattr(sys.modules.get(_LAYER_MODULE), "Layer", None)
    if layer_class is None:  # Paddle is not imported yet
        return []
    # During a trace, ``__call__`` of a layer is wrapped, but ``forward`` is not.
    return list(_running(layer_class.forward.__code__.co_filename, frame))


def path_within(root: Any, layer: Any) -> str:
    """Return the path of a layer inside ``root``, or its class name if it is not inside."""
    try:
        paths = (path for path, sublayer in root.named_sublayers() if sublayer is layer)
        return next(paths, type(layer).__name__)
    except Exception:  # noqa: BLE001  (the main thread adds a layer meanwhile; or the user's own)
        return type(layer).__name__


def _running(file: str, frame: FrameType | None) -> Iterator[Any]:
    """Yield the running layers, the innermost first. ``file`` is the file of ``Layer.__call__``."""
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
    """Return a thread's innermost frame, ``None`` if it runs no Python code.

    Parameters
    ----------
    ident
        The identity of the thread.
    """
    return thread_frames().get(ident)
