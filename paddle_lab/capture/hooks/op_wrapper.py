"""The wrapper around every op of a traced cell. The time of a trace depends mostly on it.

The native part, if it was built, handles the common case: one recorder listens, and the op returns
tensors. This file handles all other cases, and all cases without the native part.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from time import perf_counter_ns
from types import FrameType
from typing import Any

from paddle_lab.capture.backward_graph.graphs import flat
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.tracebacks import drop_frame
from paddle_lab.capture.native import NATIVE
from paddle_lab.capture.recorder.recorder import SINKS, Recorder, Resolved
from paddle_lab.capture.rows.op_names import OP_NAMES

_UPDATES = frozenset({
    "adadelta_", "adagrad_", "adam_", "adamax_", "adamw_", "asgd_", "lamb_", "momentum_", "nadam_",
    "radam_", "rmsprop_", "rprop_", "sgd_",
})  # fmt: skip
"""Ops of Paddle's optimizers. They write values, but keep a tensor's shape, dtype and name."""


class OpWrapping:
    """Makes the wrappers of ops.

    Parameters
    ----------
    tensor_type
        ``paddle.Tensor``.
    """

    def __init__(self, tensor_type: type) -> None:
        self._tensor_type = tensor_type

    def wrap(self, function: Any, name: str, *, is_method: bool = False) -> Callable[..., Any]:
        """Return the wrapper of an op's function, or of an operator of a class."""
        wrapper: Any = self._python_wrapper(function, name)
        if NATIVE is not None:
            kind = NATIVE.OpMethod if is_method else NATIVE.OpFunction
            # The native wrapper calls ``wrapper`` if several recorders listen, and ``self`` for
            # rare results.
            wrapper = kind(function, name, OP_NAMES.key(name), wrapper, self, name in _UPDATES)
        wrapper.__wrapped__ = function
        wrapper.__name__ = wrapper.__qualname__ = getattr(function, "__name__", name)
        wrapper.__doc__ = getattr(function, "__doc__", None)
        return wrapper  # type: ignore[no-any-return]

    def listen_for(self, recorder: Recorder | None) -> None:
        """Give the fast path to the only recorder that listens; to none if ``recorder`` is None."""
        if NATIVE is not None:
            NATIVE.listen_for(recorder, SINKS)

    def _python_wrapper(self, function: Any, name: str) -> Callable[..., Any]:
        def op(*args: Any, **kwargs: Any) -> Any:
            active = SINKS.active
            if not active:
                return function(*args, **kwargs)
            begun_ns = perf_counter_ns()
            frame = _getframe(1)
            begun = [
                recorder.attempt(self._begin, recorder, function, name, args, kwargs)
                for recorder in active
            ]
            resolved: list[Resolved] = [inputs or ([], [], -1) for inputs in begun]
            states = [recorder.thread() for recorder in active]
            start_ns = perf_counter_ns()
            for state in states:
                state.own_ns += start_ns - begun_ns
            try:
                result = function(*args, **kwargs)
            except BaseException as error:
                end_ns = perf_counter_ns()
                if active is SINKS.active:
                    for recorder, inputs, state in zip(active, resolved, states, strict=True):
                        times_ns = start_ns, end_ns, state.own_ns
                        recorder.attempt(
                            self.fail, recorder, name, args, inputs, error, *times_ns, frame
                        )
                drop_frame(error)
                raise
            end_ns = perf_counter_ns()
            if active is SINKS.active:
                for recorder, inputs, state in zip(active, resolved, states, strict=True):
                    times_ns = start_ns, end_ns, state.own_ns
                    recorder.attempt(
                        self.end, recorder, name, args, inputs, result, *times_ns, frame
                    )
                    state.own_ns += perf_counter_ns() - end_ns
            return result

        return op

    def _begin(
        self,
        recorder: Recorder,
        function: Any,
        name: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Resolved:
        inputs, attributes, call = recorder.begin_op(args, kwargs)
        if recorder.call_log is not None:
            call = recorder.call_log.begin(function, name, args, kwargs)
        return inputs, attributes, call

    def end(
        self,
        recorder: Recorder,
        name: str,
        args: tuple[Any, ...],
        resolved: Resolved,
        result: Any,
        start_ns: int,
        end_ns: int,
        own_ns: int,
        frame: FrameType | None,
    ) -> None:
        """Record an op that returned, whatever its result is."""
        if self._ran_eagerly(result, args, resolved):
            recorder.end_op(name, args, resolved, result, start_ns, end_ns, own_ns, frame)

    def fail(
        self,
        recorder: Recorder,
        name: str,
        args: tuple[Any, ...],
        resolved: Resolved,
        error: BaseException,
        start_ns: int,
        end_ns: int,
        own_ns: int,
        frame: FrameType | None,
    ) -> None:
        """Record an op that raised."""
        # ``for row in tensor`` reads past the last row, and expects this error.
        is_end = name == "getitem" and isinstance(error, IndexError)
        if not is_end and not _is_static(args, resolved):
            recorder.fail_op(name, resolved, start_ns, end_ns, own_ns, frame)

    def _ran_eagerly(self, result: Any, args: tuple[Any, ...], resolved: Resolved) -> bool:
        """Tell whether an op ran. Under static graph mode, an op is only added to the program.

        If a comparison returns ``NotImplemented`` or a plain ``False``, then no op ran.
        """
        if isinstance(result, self._tensor_type):
            return True
        if not (result is None or isinstance(result, (tuple, list))) or _is_static(args, resolved):
            return False
        return bool(resolved[0]) or any(
            isinstance(value, self._tensor_type) for value in flat(result)
        )


def _is_static(args: tuple[Any, ...], resolved: Resolved) -> bool:
    """Tell whether an argument is a value of a static program.

    Such a value must not be kept: it would point into a program that may be gone, and comparing the
    value would add an op to the program.
    """
    return any(isinstance(value, DOOR.static_value) for value in flat([args, resolved[1]]))
