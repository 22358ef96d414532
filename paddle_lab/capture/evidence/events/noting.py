"""The shape of a hook that notes an event before or after a call of the user's or of Paddle's."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from sys import _getframe
from types import FrameType
from typing import Any, NamedTuple

from paddle_lab.capture.hooks.tracebacks import drop_frame
from paddle_lab.capture.recorder.recorder import SINKS, Recorder


class Call(NamedTuple):
    """A call that is noted."""

    frame: FrameType
    """The caller's."""
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any = None
    """What it returned; None before it runs."""


Note = Callable[[Recorder, Call], object]


def noting(
    function: Any, note: Note | None = None, *, before: Note | None = None
) -> Callable[..., Any]:
    """Wrap a function so that ``before`` hears of each call, and ``note`` of each that returned."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if before is not None:
            for recorder in SINKS.active:
                recorder.attempt(before, recorder, Call(_getframe(1), args, kwargs))
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            drop_frame(error)
            raise
        if note is not None:
            for recorder in SINKS.active:
                recorder.attempt(note, recorder, Call(_getframe(1), args, kwargs, result))
        return result

    return call


def is_floating(tensor: Any) -> bool:
    """Tell whether gradients can exist for a tensor's values."""
    return _is_floating(tensor.dtype)


@lru_cache(maxsize=64)
def _is_floating(dtype: Any) -> bool:
    return str(dtype).startswith(("paddle.float", "paddle.bfloat", "paddle.complex"))
