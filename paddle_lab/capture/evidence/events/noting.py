"""A hook that records an event before or after a call."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from sys import _getframe
from time import perf_counter_ns
from types import FrameType
from typing import Any, NamedTuple

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.hooks.tracebacks import drop_frame
from paddle_lab.capture.memory.capture import OPEN_CAPTURES, note_copy
from paddle_lab.capture.recorder.recorder import SINKS, Recorder
from paddle_lab.capture.stacks.frame_kinds import is_own


class Call(NamedTuple):
    """A call that a hook records."""

    frame: FrameType
    """The caller's frame."""
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any = None
    """The return value; None until the call has returned."""


Note = Callable[[Recorder, Call], object]


def noting(
    function: Any, note: Note | None = None, *, before: Note | None = None, copies: bool = False
) -> Callable[..., Any]:
    """Wrap a function so that its calls are recorded.

    Parameters
    ----------
    note
        Is called after each call that returned.
    before
        Is called before each call.
    copies
        Whether the function copies a tensor. A copy allocates memory but is not an op. So a trace
        with memory records its line and its tensor.
    """

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if before is not None:
            _tell(before, Call(_getframe(1), args, kwargs))
        start_ns = perf_counter_ns()
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            drop_frame(error)
            raise
        finally:
            if copies and OPEN_CAPTURES:
                note_copy(args[0] if args else None, _caller(), start_ns, perf_counter_ns())
        if note is not None:
            _tell(note, Call(_getframe(1), args, kwargs, result))
        return result

    return call


def noted(
    place: str | tuple[Any, str],
    note: Note | None = None,
    *,
    before: Note | None = None,
    copies: bool = False,
) -> AttributePatch:
    """Return a patch that wraps a function with :func:`noting`.

    Parameters
    ----------
    place
        The name of the function in :mod:`paddle_lab.capture.door.table`; or a pair of a class or
        module, and the name of the function in it.
    """

    def around(function: Any) -> Callable[..., Any]:
        return noting(function, note, before=before, copies=copies)

    return DOOR.patch(place, around) if isinstance(place, str) else AttributePatch(*place, around)


def _tell(note: Note, call: Call) -> None:
    begun_ns = perf_counter_ns()
    for recorder in SINKS.active:
        recorder.attempt(note, recorder, call)
        recorder.thread().own_ns += perf_counter_ns() - begun_ns


def _caller() -> FrameType:
    """Return the innermost frame outside of this package."""
    frame = _getframe(2)
    while frame.f_back is not None and is_own(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def is_floating(tensor: Any) -> bool:
    """Tell whether tensors of this dtype can have gradients."""
    return _is_floating(tensor.dtype)


@lru_cache(maxsize=64)
def _is_floating(dtype: Any) -> bool:
    return str(dtype).startswith(("paddle.float", "paddle.bfloat", "paddle.complex"))
