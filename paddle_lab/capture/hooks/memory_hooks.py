"""Hooks that only memory traces need: for batches of data loaders and for new threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from sys import _getframe
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.hooks.tracebacks import drop_frame
from paddle_lab.capture.memory.capture import OPEN_CAPTURES, note_arrivals
from paddle_lab.capture.memory.log.allocator_log import ALLOCATOR_LOG
from paddle_lab.capture.recorder.recorder import SINKS


def arrival_patches(_paddle: Any) -> list[AttributePatch]:
    """Return the patch around the function that returns a data loader's next batch.

    The loader's own thread, or one of its workers, made the batch earlier.
    """
    return [DOOR.patch("read_batch", _noting_arrivals)]


def thread_patches(_paddle: Any) -> list[AttributePatch]:
    """Return the patch around the start of a thread: from then on several threads may allocate."""
    return [AttributePatch(threading.Thread, "start", _around_start)]


def _noting_arrivals(function: Any) -> Callable[..., Any]:
    @wraps(function)
    def read_next_tensor_list(*args: Any, **kwargs: Any) -> Any:
        try:
            tensors = function(*args, **kwargs)
        except BaseException as error:
            drop_frame(error)
            raise
        if OPEN_CAPTURES:
            note_arrivals(tensors, _getframe(1))
        return tensors

    return read_next_tensor_list


def _around_start(method: Any) -> Callable[..., None]:
    @wraps(method)
    def start(self: threading.Thread) -> None:
        # A thread may allocate while another thread's backward call begins a new segment of the
        # log.
        ALLOCATOR_LOG.keep_grad_nodes()
        try:
            method(self)
        except BaseException as error:
            drop_frame(error)
            raise
        for recorder in SINKS.active:
            recorder.native_threads[self.native_id or -1] = self.ident or -1

    return start
