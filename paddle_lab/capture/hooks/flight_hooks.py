"""Hooks that only write calls into the flight record: backward calls, and runs of programs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from sys import _getframe
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.flight.flight_record import FLIGHT
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.hooks.tracebacks import drop_frame


def flight_patches(
    suspended: Callable[[], AbstractContextManager[None]],
) -> Callable[[Any], list[AttributePatch]]:
    """Return a function that makes the patches of backward calls and of compiled programs.

    Parameters
    ----------
    suspended
        Makes a context in which no hook is installed; see
        :mod:`paddle_lab.capture.hooks.static_hooks`.
    """

    def patches(paddle: Any) -> list[AttributePatch]:
        found = [AttributePatch(paddle.static.Executor, "run", _noting("run_program"))]
        if DOOR.has("backward"):
            found.append(DOOR.patch("run_backward", _noting("backward")))
            found.append(DOOR.patch("run_partial_grad", _noting("paddle.grad")))
        if DOOR.has("programs"):
            noting = _noting("run_program", suspended)
            found.append(AttributePatch(DOOR.static_function, "__call__", noting))
        return found

    return patches


def _noting(
    name: str, around: Callable[[], AbstractContextManager[None]] = nullcontext
) -> Callable[[Any], Callable[..., Any]]:
    def patched(function: Any) -> Callable[..., Any]:
        @wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            try:
                with FLIGHT.running(name, _getframe(1)), around():
                    return function(*args, **kwargs)
            except BaseException as error:
                drop_frame(error)
                raise

        return wrapper

    return patched
