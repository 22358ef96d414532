"""Hooks around the two C++ functions that all backward entry points of Paddle call.

``Tensor.backward`` and ``paddle.autograd.backward`` call ``core.eager.run_backward``;
``paddle.grad`` calls ``core.eager.run_partial_grad``.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from time import perf_counter_ns
from types import FrameType
from typing import Any

from paddle_lab.capture.double_grad import DoubleGradWatch
from paddle_lab.capture.patches import AttributePatch
from paddle_lab.capture.recorder import BACKWARD_CALL, Recorder
from paddle_lab.capture.sinks import SINKS
from paddle_lab.capture.thread_state import BACKWARD
from paddle_lab.capture.tracebacks import drop_frame
from paddle_lab.trace.schema import BACKWARD_KINDS

TENSOR_BACKWARD = BACKWARD_KINDS.index("Tensor.backward")
PADDLE_GRAD = BACKWARD_KINDS.index("paddle.grad")
AUTOGRAD_BACKWARD = BACKWARD_KINDS.index("paddle.autograd.backward")
REMAINING = BACKWARD_KINDS.index("remaining")

# Positions in run_partial_grad(outputs, inputs, grad_outputs, retain_graph, create_graph, …).
_GRAD_OUTPUTS, _CREATE_GRAPH = 2, 4


def backward_patches(paddle: Any) -> list[AttributePatch]:
    """Return the patches around ``run_backward`` and ``run_partial_grad``."""
    eager = paddle.base.core.eager
    return [
        AttributePatch(eager, "run_backward", _around_run_backward),
        AttributePatch(eager, "run_partial_grad", _around_run_partial_grad),
    ]


def _around_run_backward(run: Any) -> Callable[..., Any]:
    def run_backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        active = SINKS.active
        if not active:
            return run(tensors, *args, **kwargs)
        caller = _getframe(1)
        is_method = caller.f_code.co_filename.endswith("tensor_patch_methods.py")
        kind = TENSOR_BACKWARD if is_method else AUTOGRAD_BACKWARD
        opened = [_open(recorder, kind, tensors, caller) for recorder in active]
        error = ""
        try:
            return run(tensors, *args, **kwargs)
        except BaseException as raised:
            error = _described(raised)
            drop_frame(raised)
            raise
        finally:
            for call in opened:
                call.close(error)

    run_backward.__doc__ = run.__doc__
    run_backward.__wrapped__ = run  # type: ignore[attr-defined]
    return run_backward


def _around_run_partial_grad(run: Any) -> Callable[..., Any]:
    def run_partial_grad(outputs: Any, inputs: Any, *args: Any) -> Any:
        active = SINKS.active
        if not active:
            return run(outputs, inputs, *args)
        caller = _getframe(1)
        create_graph = bool(args[_CREATE_GRAPH - 2])
        opened = [
            _open(recorder, PADDLE_GRAD, outputs, caller, create_graph=create_graph)
            for recorder in active
        ]
        resolved = [recorder.begin_op((outputs, inputs), {}) for recorder in active]
        watches = _watches(opened, args) if create_graph else []
        for call in opened:
            call.reached = {}
        start_ns = perf_counter_ns()
        try:
            result = run(outputs, inputs, *args)
        except BaseException as raised:
            for call in opened:
                call.close(_described(raised))
            for watch in watches:
                watch.close()
            drop_frame(raised)
            raise
        end_ns = perf_counter_ns()
        ops = []
        for call, inputs_of_op in zip(opened, resolved, strict=True):
            call.close("")
            op = call.recorder.end_op(
                "paddle.grad", (), inputs_of_op, result, start_ns, end_ns, caller, phase=BACKWARD
            )
            ops.append(op)
        for watch, op in zip(watches, ops, strict=False):
            watch.attribute(result, op)
        return result

    run_partial_grad.__doc__ = run.__doc__
    run_partial_grad.__wrapped__ = run  # type: ignore[attr-defined]
    return run_partial_grad


def _watches(opened: list[_OpenCall], args: tuple[Any, ...]) -> list[DoubleGradWatch]:
    seeds = args[_GRAD_OUTPUTS - 2] or []
    return [DoubleGradWatch(call.recorder, call.reached, seeds) for call in opened]


class _OpenCall:
    """One backward call while it runs, for one recorder."""

    def __init__(self, recorder: Recorder, row: tuple[int, int, int, int, int, bool]) -> None:
        self.recorder = recorder
        self.row = row
        self.state = recorder.thread()
        self.saved = self.state.save()
        self.reached: dict[int, tuple[Any, int]] = {}

    def close(self, error: str) -> None:
        """Leave the scope and record how the call ended."""
        self.state.restore(self.saved)
        key, kind, stack, scope, ops_before, create_graph = self.row
        self.recorder.backward_calls.append(
            (key, kind, stack, scope, ops_before, create_graph, error)
        )


def _open(
    recorder: Recorder, kind: int, tensors: Any, caller: FrameType, *, create_graph: bool = False
) -> _OpenCall:
    state = recorder.thread()
    key = recorder.next_backward_call()
    stack = recorder.stacks.take(caller, state.anchor, state.anchor_stack)
    saved_scope = state.scope
    reached = recorder.backward.walk(tensors, key)
    call = _OpenCall(recorder, (key, kind, stack, saved_scope, recorder.op_count, create_graph))
    if create_graph:
        call.reached = reached
    del reached  # it holds the graph, which the call is about to free
    recorder.open_scope(state, BACKWARD_CALL, BACKWARD_KINDS[kind], backward_call=key)
    state.phase = BACKWARD
    return call


def _described(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
