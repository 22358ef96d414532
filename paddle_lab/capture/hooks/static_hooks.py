"""The hooks around compiled programs: a call of one is recorded as one op, ``run_program``.

While a function that ``paddle.jit.to_static`` made builds its program, its ops run on symbolic
values, and SOT reads bytecode and compares functions by identity. So during the call Paddle sees
its own functions, but for the one that tells which programs ran
(:mod:`paddle_lab.capture.hooks.programs`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from functools import partial, wraps
from sys import _getframe
from time import perf_counter_ns
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.hooks.programs import (
    EXECUTOR,
    FULL_GRAPH,
    SOT,
    run_of_executor,
    running_layers,
    runs_of_layers,
)
from paddle_lab.capture.hooks.tracebacks import drop_frame
from paddle_lab.capture.memory.log.allocator_log import ALLOCATOR_LOG
from paddle_lab.capture.recorder.faults import attempt
from paddle_lab.capture.recorder.recorder import Recorder
from paddle_lab.capture.recorder.sinks import SINKS

_NAME = "run_program"


def static_patches(
    paddle: Any,
    suspended: Callable[[], AbstractContextManager[None]],
    *,
    tells_programs: bool,
) -> list[AttributePatch]:
    """Return the patches around ``StaticFunction.__call__`` and ``Executor.run``.

    Parameters
    ----------
    paddle
        The paddle module.
    suspended
        Makes a context in which no hook is installed.
    tells_programs
        Whether it is known which programs run.
    """
    end = partial(_end, tells_programs=tells_programs)

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
                with suspended(), running_layers() as layers:
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
                        recorder, end, recorder, self, layers, args, inputs, values, start_ns,
                        end_ns, frame,
                    )  # fmt: skip
            return result

        __call__.__wrapped__ = call  # type: ignore[attr-defined]
        return __call__

    patches = _executor_patches(paddle)
    if DOOR.has("programs"):
        patches.append(AttributePatch(DOOR.static_function, "__call__", around))
    return patches


def _executor_patches(paddle: Any) -> list[AttributePatch]:
    def around(run: Any) -> Callable[..., Any]:
        def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
            active = SINKS.active
            if not active:
                return run(self, *args, **kwargs)
            frame = _getframe(1)
            start_ns = perf_counter_ns()
            try:
                result = run(self, *args, **kwargs)
            except BaseException as error:
                end_ns = perf_counter_ns()
                for recorder in active:
                    attempt(recorder, recorder.fail_op, _NAME, ([], []), start_ns, end_ns, frame)
                drop_frame(error)
                raise
            end_ns = perf_counter_ns()
            for recorder in active:
                attempt(
                    recorder, _end_executor, recorder, paddle, self, args, kwargs, start_ns, end_ns,
                    frame,
                )  # fmt: skip
            return result

        return wraps(run)(wrapper)

    return [AttributePatch(paddle.static.Executor, "run", around)]


def _end_executor(
    recorder: Recorder,
    paddle: Any,
    executor: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *times_and_frame: Any,
) -> None:
    op = recorder.end_op(_NAME, (), ([], []), (), *times_and_frame)
    with suppress(Exception):  # what cannot be asked is not told
        recorder.programs.note(op, EXECUTOR, [run_of_executor(paddle, executor, args, kwargs)])


def _end(
    recorder: Recorder,
    function: Any,
    layers: list[Any],
    args: tuple[Any, ...],
    resolved: tuple[list[int], list[Any]],
    values: Any,
    *times_and_frame: Any,
    tells_programs: bool,
) -> None:
    inputs, attributes = resolved
    runs = runs_of_layers(layers)
    read = {id(parameter): parameter for run in runs for parameter in run.parameters}
    # A slot each: several tensors in one are a list, whose grad nodes take no hooks.
    for slot, parameter in enumerate(read.values(), len(args)):
        inputs.extend((slot, recorder.tensors.key_of(parameter)))
    op = recorder.end_op(_NAME, args, (inputs, attributes), values, *times_and_frame)
    is_sot = "Symbolic" in type(function).__name__
    # Layers whose program cannot be asked for ran one all the same.
    if runs or (tells_programs and not layers):
        recorder.programs.note(op, SOT if is_sot else FULL_GRAPH, runs)


def _begin(
    recorder: Recorder, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[int], list[Any]]:
    reference: Any = DOOR.static_layer(function)
    layer: Any = None if reference is None else reference()
    if layer is not None:
        # The program uses its parameters without an op that is seen to.
        for parameter in layer.parameters():
            recorder.tensors.key_of(parameter)
    return recorder.begin_op(args, kwargs)
