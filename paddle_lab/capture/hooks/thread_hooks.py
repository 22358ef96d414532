"""The hook around the start of a thread, from which on several may allocate at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.hooks.tracebacks import drop_frame
from paddle_lab.capture.memory.log.allocator_log import ALLOCATOR_LOG


def thread_patches() -> list[AttributePatch]:
    """Return the patch around ``threading.Thread.start``."""
    return [AttributePatch(threading.Thread, "start", _around_start)]


def _around_start(method: Any) -> Callable[..., None]:
    def start(self: threading.Thread) -> None:
        # While one thread's backward call would cut the log, the other allocates.
        ALLOCATOR_LOG.keep_grad_nodes()
        try:
            method(self)
        except BaseException as error:
            drop_frame(error)
            raise

    start.__doc__ = method.__doc__
    start.__wrapped__ = method  # type: ignore[attr-defined]
    return start
