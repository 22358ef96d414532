"""Hooks around what allocates without being an op: copies from and to numpy and other devices."""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from time import perf_counter_ns
from types import FrameType
from typing import Any

from paddle_lab.capture.memory.capture import OPEN_CAPTURES, note_copy
from paddle_lab.capture.patches import AttributePatch
from paddle_lab.capture.tracebacks import drop_frame

# All other methods that copy (cpu, cuda, to, item, tolist, __array__) come down to these.
_TENSOR_METHODS = ("numpy", "_copy_to", "copy_")


def copy_patches(paddle: Any) -> list[AttributePatch]:
    """Return the patches that tell of every copy once it has ended, or failed."""
    patches = [
        AttributePatch(paddle.Tensor, name, noting_copies)
        for name in _TENSOR_METHODS
        if hasattr(paddle.Tensor, name)
    ]
    creation = paddle.tensor.creation
    # What paddle.to_tensor, of which many modules hold a binding, calls by name.
    patches.append(AttributePatch(creation, "_to_tensor_non_static", noting_copies))
    return patches


def noting_copies(function: Any) -> Callable[..., Any]:
    """Wrap a function that copies a tensor, so that traces with memory know the line."""

    def copy(*args: Any, **kwargs: Any) -> Any:
        start_ns = perf_counter_ns()
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            drop_frame(error)
            raise
        finally:
            if OPEN_CAPTURES:
                note_copy(_caller(), start_ns, perf_counter_ns())

    copy.__name__ = copy.__qualname__ = getattr(function, "__name__", "copy")
    copy.__doc__ = getattr(function, "__doc__", None)
    copy.__wrapped__ = function  # type: ignore[attr-defined]
    return copy


def _caller() -> FrameType:
    """Return the frame that called a wrapper of ours, whatever stands around it."""
    frame = _getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        frame = frame.f_back
    return frame
