"""A hook that records calls from their beginning to their end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from sys import _getframe
from time import perf_counter_ns
from types import FrameType
from typing import Any, TypeVar

from paddle_lab.capture.hooks.tracebacks import drop_frame
from paddle_lab.capture.recorder.recorder import SINKS, Recorder


class OpenCall:
    """A running call, for one recorder.

    Parameters
    ----------
    frame
        The hook's own frame, which runs as long as the call. Do not keep it: it holds this object.
    """

    args: tuple[Any, ...]
    """The arguments of the function. A hook may replace them when the call begins."""
    result: Any = None
    error: BaseException
    times_ns = 0, 0, 0
    """When the call began and ended, by ``perf_counter_ns``, and the trace's own time before it."""

    def __init__(
        self, recorder: Recorder, frame: FrameType, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.recorder = recorder
        self.caller: FrameType = frame.f_back or frame
        self.args, self.kwargs = args, kwargs
        self.state = recorder.thread()
        self.saved = self.state.save()
        self.begin(frame)

    def begin(self, frame: FrameType, /) -> None:
        """Record that the call begins."""

    def end(self) -> None:
        """Record the returned :attr:`result`."""
        self.leave()

    def fail(self) -> None:
        """Record the raised :attr:`error`."""
        self.leave()

    def leave(self) -> None:
        """Restore the thread's state from before the call."""
        self.state.restore(self.saved)


_Call = TypeVar("_Call", bound=OpenCall)


def recording(
    function: Any,
    kind: type[_Call],
    around: Callable[[Sequence[_Call]], AbstractContextManager[Any]] = nullcontext,
) -> Callable[..., Any]:
    """Wrap a function so that every recorder that listens records its calls.

    Parameters
    ----------
    kind
        The class that records one call for one recorder.
    around
        Makes the context in which the function runs, from the opened calls.
    """

    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        active = SINKS.active
        if not active:
            return function(*args, **kwargs)
        begun_ns = perf_counter_ns()
        frame = _getframe()
        opened: list[_Call] = []
        for recorder in active:
            call = recorder.attempt(kind, recorder, frame, args, kwargs)
            if call is not None:
                opened.append(call)
                args = call.args
        del frame  # the frame refers to itself through this variable, and keeps its callers alive
        try:
            with around(opened):
                start_ns = perf_counter_ns()
                for call in opened:
                    call.state.own_ns += start_ns - begun_ns
                    call.times_ns = start_ns, start_ns, call.state.own_ns
                try:
                    result = function(*args, **kwargs)
                finally:
                    end_ns = perf_counter_ns()
                    for call in opened:
                        call.times_ns = start_ns, end_ns, call.times_ns[2]
        except BaseException as error:
            for call in opened:
                call.error = error
                call.recorder.attempt(call.fail)
                del call.error  # the error's traceback refers to this call
            drop_frame(error)
            raise
        for call in opened:
            call.result = result
            call.recorder.attempt(call.end)
            call.state.own_ns += perf_counter_ns() - end_ns
        return result

    return wrapper
