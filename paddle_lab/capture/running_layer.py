"""Which layer's call is running, as seen from another thread."""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections.abc import Iterator
from types import FrameType
from typing import Any, Final

from paddle_lab.capture.native import native_twin
from paddle_lab.garbage import thread_frames

_LAYER_MODULE: Final = "paddle.nn.layer.layers"
_LOOK_PERIOD_NS: Final = 1_000_000_000


class RunningLayer:
    """Tells the layer that runs in the main thread, in traced cells and all others.

    It looks at the thread's frames, so calls are not hooked and cost nothing. Nothing of a frame
    is kept: of those of ``Layer.__call__`` alone the variables are asked, because before Python
    3.13 the answer stays with the frame until that ends, and these hold no more than the call's
    own arguments anyway.
    """

    def __init__(self) -> None:
        self._file = ""
        """Of ``Layer.__call__``; empty until Paddle is imported."""
        self._root: weakref.ref[Any] | None = None
        self._paths: dict[int, str] = {}
        """Of the root's sublayers, by their ``id``."""
        self._next_look_ns = 0

    def __call__(self) -> str:
        """Return the layer's path in its root, which is the outermost layer that runs.

        Returns
        -------
        path
            As ``named_sublayers`` tells it; the class of a root, or of a layer that no root holds;
            ``""`` outside layers.
        """
        if not self._file and not self._find():
            return ""
        running = list(self._running())
        if not running:
            return ""
        layer = running[0]
        return self._path(running[-1], layer) or type(layer).__name__

    def _find(self) -> bool:
        layer_class = getattr(sys.modules.get(_LAYER_MODULE), "Layer", None)
        if layer_class is None:
            return False
        # Its calls are wrapped while a trace is open; this method never is.
        self._file = layer_class.forward.__code__.co_filename
        return True

    def _running(self) -> Iterator[Any]:
        """Yield the layers whose calls run, innermost first."""
        frame = thread_frame(threading.main_thread().ident or 0)
        while frame is not None:
            code = frame.f_code
            name = code.co_name
            if name == "<module>":  # a cell; what runs it is no layer
                return
            if name == "__call__" and code.co_filename == self._file:
                yield frame.f_locals["self"]
            frame = frame.f_back

    def _path(self, root: Any, layer: Any) -> str:
        if layer is root:
            return ""
        if self._root is None or self._root() is not root:
            self._root, self._paths = weakref.ref(root), _paths(root)
        elif id(layer) not in self._paths and time.monotonic_ns() >= self._next_look_ns:
            # The root may have grown; a layer that each call makes anew is never among its own.
            self._paths = _paths(root)
            self._next_look_ns = time.monotonic_ns() + _LOOK_PERIOD_NS
        return self._paths.get(id(layer), "")


@native_twin
def thread_frame(ident: int) -> FrameType | None:
    """Return the innermost frame that a thread runs, ``None`` where it runs none.

    Parameters
    ----------
    ident
        Of the thread.
    """
    return thread_frames().get(ident)


def _paths(root: Any) -> dict[int, str]:
    try:
        return {id(layer): path for path, layer in root.named_sublayers()}
    except Exception:  # noqa: BLE001  (the main thread adds a layer meanwhile; or the user's own)
        return {}
