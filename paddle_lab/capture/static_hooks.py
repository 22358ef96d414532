"""The hook around functions that ``paddle.jit.to_static`` made: the trace steps aside.

While such a function builds its program, its ops run on symbolic values, and SOT reads bytecode and
compares functions by identity. So during the call Paddle sees its own functions; the call itself is
recorded as one op, ``run_program``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from sys import _getframe
from time import perf_counter_ns
from typing import Any

from paddle_lab.capture.faults import attempt
from paddle_lab.capture.memory.allocator_log import ALLOCATOR_LOG
from paddle_lab.capture.patches import AttributePatch
from paddle_lab.capture.recorder import Recorder
from paddle_lab.capture.sinks import SINKS
from paddle_lab.capture.tracebacks import drop_frame

_NAME = "run_program"


def static_patches(
    paddle: Any, suspended: Callable[[], AbstractContextManager[None]]
) -> list[AttributePatch]:
    """Return the patch around ``StaticFunction.__call__``.

    Parameters
    ----------
    paddle
        The paddle module.
    suspended
        Makes a context in which no hook is installed.
    """

    def around(call: Any) -> Callable[..., Any]:
        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            active = SINKS.active
            if not active:
                return call(self, *args, **kwargs)
            resolved = [
                (recorder, attempt(recorder, _begin, recorder, self, args, kwargs))
                for recorder in active
            ]
            ALLOCATOR_LOG.keep_grad_nodes()
            frame = _getframe(1)
            start_ns = perf_counter_ns()
            try:
                with suspended():
                    result = call(self, *args, **kwargs)
            except BaseException as error:
                end_ns = perf_counter_ns()
                for recorder, inputs in resolved:
                    if inputs is not None:
                        attempt(recorder, recorder.fail_op, _NAME, inputs, start_ns, end_ns, frame)
                drop_frame(error)
                raise
            end_ns = perf_counter_ns()
            values = list(result.values()) if isinstance(result, dict) else result
            for recorder, inputs in resolved:
                if inputs is not None:
                    attempt(
                        recorder, recorder.end_op, _NAME, args, inputs, values, start_ns, end_ns,
                        frame,
                    )  # fmt: skip
            return result

        __call__.__wrapped__ = call  # type: ignore[attr-defined]
        return __call__

    static_function = paddle.jit.dy2static.program_translator.StaticFunction
    return [AttributePatch(static_function, "__call__", around)]


def _begin(
    recorder: Recorder, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[int], list[Any]]:
    reference: Any = getattr(function, "_class_instance", None)
    layer: Any = None if reference is None else reference()
    if layer is not None:
        # The program uses its parameters without an op that is seen to.
        for parameter in layer.parameters():
            recorder.tensors.key_of(parameter)
    return recorder.begin_op(args, kwargs)
