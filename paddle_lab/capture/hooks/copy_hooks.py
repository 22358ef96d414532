"""The hook around what allocates without being an op: copies from and to numpy and other devices.

Who notes such a call as an event puts it around the same function.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from time import perf_counter_ns
from types import FrameType
from typing import Any

from paddle_lab.capture.hooks.tracebacks import drop_frame
from paddle_lab.capture.memory.capture import OPEN_CAPTURES, note_copy
from paddle_lab.capture.stacks.frame_kinds import is_own


def noting_copies(function: Any) -> Callable[..., Any]:
    """Wrap a function that copies a tensor, so that traces with memory know line and tensor."""

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

    copy.__name__ = copy.__qualname__ = getattr(function, "__name__", "copy")
    copy.__doc__ = getattr(function, "__doc__", None)
    copy.__wrapped__ = function  # type: ignore[attr-defined]
    return copy


def _caller() -> FrameType:
    """Return the frame that called a wrapper of ours, whatever stands around it."""
    frame = _getframe(2)
    while frame.f_back is not None and is_own(frame.f_code.co_filename):
        frame = frame.f_back
    return frame
