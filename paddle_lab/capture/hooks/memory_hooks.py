"""Hooks that only a recording of memory needs: copies, batches of data loaders, new threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from sys import _getframe
from time import perf_counter_ns
from types import FrameType
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.hooks.tracebacks import drop_frame
from paddle_lab.capture.memory.capture import OPEN_CAPTURES, note_arrivals, note_copy
from paddle_lab.capture.memory.log.allocator_log import ALLOCATOR_LOG
from paddle_lab.capture.stacks.frame_kinds import is_own


def arrival_patches(_paddle: Any) -> list[AttributePatch]:
    """Return the patch around what hands a data loader's batches to the code that asks for them.

    They are made in the loader's own thread, or in its workers, before anybody asks.
    """
    return [DOOR.patch("read_batch", _noting_arrivals)]


def thread_patches(_paddle: Any) -> list[AttributePatch]:
    """Return the patch around the start of a thread, from which on several may allocate at once."""
    return [AttributePatch(threading.Thread, "start", _around_start)]


def noting_copies(function: Any) -> Callable[..., Any]:
    """Wrap a function that copies a tensor, so that traces with memory know line and tensor.

    It allocates without being an op. Who notes such a call as an event puts it around the same
    function.
    """

    @wraps(function)
    def copy(*args: Any, **kwargs: Any) -> Any:
        start_ns = perf_counter_ns()
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            drop_frame(error)
            raise
        finally:
            if OPEN_CAPTURES:
                note_copy(args[0] if args else None, _caller(), start_ns, perf_counter_ns())

    return copy


def _caller() -> FrameType:
    """Return the innermost frame outside of this package."""
    frame = _getframe(2)
    while frame.f_back is not None and is_own(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


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
        # While one thread's backward call would cut the log, the other allocates.
        ALLOCATOR_LOG.keep_grad_nodes()
        try:
            method(self)
        except BaseException as error:
            drop_frame(error)
            raise
        for capture in OPEN_CAPTURES:
            capture.threads.note_start(self)

    return start
