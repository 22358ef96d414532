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

from paddle_lab.capture.backward_graph.double_grad import attribute_made_nodes
from paddle_lab.capture.backward_graph.graphs import PADDLE_GRAD_OP
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.events.gradient_stops import note_rootless
from paddle_lab.capture.evidence.gradients.post_hooks import BackwardWatch
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.hooks.tracebacks import drop_frame, drop_lines
from paddle_lab.capture.memory.log.allocator_log import ALLOCATOR_LOG, BackwardSpan
from paddle_lab.capture.recorder.faults import attempt, described
from paddle_lab.capture.recorder.recorder import BACKWARD_CALL, Recorder
from paddle_lab.capture.recorder.sinks import SINKS
from paddle_lab.capture.recorder.thread_state import BACKWARD
from paddle_lab.trace.schema import BACKWARD_KINDS

TENSOR_BACKWARD = BACKWARD_KINDS.index("Tensor.backward")
PADDLE_GRAD = BACKWARD_KINDS.index("paddle.grad")
AUTOGRAD_BACKWARD = BACKWARD_KINDS.index("paddle.autograd.backward")
REMAINING = BACKWARD_KINDS.index("remaining")

# Positions in run_partial_grad(outputs, inputs, grad_outputs, retain_graph, create_graph,
# only_inputs, allow_unused, no_grad_vars, …).
_GRAD_OUTPUTS, _CREATE_GRAPH, _NO_GRAD_VARS = 2, 4, 7


def backward_patches() -> list[AttributePatch]:
    """Return the patches around ``run_backward`` and ``run_partial_grad``."""
    return [
        DOOR.patch("run_backward", _around_run_backward),
        DOOR.patch("run_partial_grad", _around_run_partial_grad),
    ]


def _around_run_backward(run: Any) -> Callable[..., Any]:
    def run_backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        active = SINKS.active
        if not active:
            return run(tensors, *args, **kwargs)
        caller = _getframe(1)
        is_method = caller.f_code.co_filename.endswith("tensor_patch_methods.py")
        kind = TENSOR_BACKWARD if is_method else AUTOGRAD_BACKWARD
        gradients = args[0] if args else kwargs.get("grad_tensors")
        retain_graph = bool(args[1] if len(args) > 1 else kwargs.get("retain_graph"))
        opened = _open_all(active, kind, (tensors, gradients), caller, retain_graph=retain_graph)
        error = ""
        watched = _watch(opened)
        try:
            return run(tensors, *args, **kwargs)
        except BaseException as raised:
            drop_lines(raised)
            error = described(raised)
            drop_frame(raised)
            raise
        finally:
            ALLOCATOR_LOG.leave_backward(watched)
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
        roots = outputs, args[_GRAD_OUTPUTS - 2]
        opened = _open_all(active, PADDLE_GRAD, roots, caller, create_graph=create_graph)
        for call in opened:
            attempt(call.recorder, call.prepare, (outputs, inputs), args)
        watched = _watch(opened)
        start_ns = perf_counter_ns()
        try:
            result = run(outputs, inputs, *args)
        except BaseException as raised:
            ALLOCATOR_LOG.leave_backward(watched)
            drop_lines(raised)
            for call in opened:
                call.close(described(raised))
            drop_frame(raised)
            raise
        end_ns = perf_counter_ns()
        ALLOCATOR_LOG.leave_backward(watched)
        for call in opened:
            call.close("")
            attempt(call.recorder, call.finish, result, start_ns, end_ns, caller)
        return result

    run_partial_grad.__doc__ = run.__doc__
    run_partial_grad.__wrapped__ = run  # type: ignore[attr-defined]
    return run_partial_grad


def _watch(opened: list[_OpenCall]) -> BackwardSpan | None:
    calls: list[tuple[object, int]] = [(call.recorder, call.row[0]) for call in opened]
    familiar = opened[0].recorder.familiar_calls if len(opened) == 1 else None
    if familiar is None or not ALLOCATOR_LOG.is_recording:
        return ALLOCATOR_LOG.enter_backward(calls)
    kind, *_, create_graph, retain_graph = opened[0].row[1:]
    recorder = opened[0].recorder
    modes = (kind, create_graph, retain_graph)
    signature = attempt(recorder, familiar.signature, modes) or b""
    is_familiar = bool(signature) and familiar.is_familiar(signature)
    return ALLOCATOR_LOG.enter_backward(calls, signature, is_familiar=is_familiar)


def _open_all(
    active: tuple[Recorder, ...],
    kind: int,
    roots: tuple[Any, Any],
    caller: FrameType,
    *,
    create_graph: bool = False,
    retain_graph: bool = True,
) -> list[_OpenCall]:
    """Open a call for each recorder; ``roots`` are tensors and the gradients to begin with."""
    modes = create_graph, retain_graph
    calls = [attempt(recorder, _open, recorder, kind, roots, caller, modes) for recorder in active]
    return [call for call in calls if call is not None]


class _OpenCall:
    """One backward call while it runs, for one recorder."""

    def __init__(self, recorder: Recorder, row: tuple[int, int, int, int, int, bool, bool]) -> None:
        self.recorder = recorder
        self.row = row
        self.state = recorder.thread()
        self.saved = self.state.save()
        self.reached: dict[int, tuple[Any, int]] = {}
        self.resolved: tuple[list[int], list[Any]] = ([], [])
        self.watch: BackwardWatch | None = None

    def prepare(self, tensors: tuple[Any, Any], args: tuple[Any, ...]) -> None:
        """Note what a call of ``paddle.grad`` is given, and what grad nodes there are before it."""
        self.resolved = self.recorder.begin_op(tensors, {})
        self.recorder.backward.ask(tensors[1], args[_NO_GRAD_VARS - 2], self.row[0])
        if self.row[5]:
            backward = self.recorder.backward
            seeds = backward.grad_nodes_of(args[_GRAD_OUTPUTS - 2] or [])
            self.reached.update(backward.grad_nodes.reach(seeds))

    def finish(self, result: Any, start_ns: int, end_ns: int, caller: FrameType) -> None:
        """Record a call of ``paddle.grad`` that returned."""
        op = self.recorder.end_op(
            PADDLE_GRAD_OP, (), self.resolved, result, start_ns, end_ns, caller, phase=BACKWARD
        )
        if self.row[5]:
            backward = self.recorder.backward
            made = attribute_made_nodes(backward.grad_nodes_of(result), self.reached, op)
            # What the new nodes lead to lives as long as they do.
            backward.grad_nodes.hold([*made.values(), *self.reached.values()])

    def close(self, error: str) -> None:
        """Leave the scope and record how the call ended."""
        if self.watch is not None:
            attempt(self.recorder, self.watch.close)
        self.state.restore(self.saved)
        self.recorder.backward_calls.append((*self.row, error))


def _open(
    recorder: Recorder,
    kind: int,
    roots: tuple[Any, Any],
    caller: FrameType,
    modes: tuple[bool, bool],
) -> _OpenCall:
    tensors, (create_graph, _) = roots[0], modes
    state = recorder.thread()
    key = recorder.next_backward_call()
    stack = recorder.stacks.take(caller, state.anchor, state.anchor_stack)
    saved_scope = state.scope
    note_rootless(recorder, tensors, caller)
    if kind != PADDLE_GRAD:
        recorder.step_gradients.note_backward()
        recorder.tensor_lives.look()
    is_asked = create_graph or recorder.on_backward is not None
    reached = recorder.backward.walk(tensors, key, returns_reached=is_asked)
    call = _OpenCall(recorder, (key, kind, stack, saved_scope, recorder.next_op.next, *modes))
    if recorder.on_backward is not None:
        call.watch = recorder.on_backward(key, reached, roots)
    if create_graph:
        call.reached = reached
    del reached  # it holds the graph, which the call is about to free
    recorder.open_scope(state, BACKWARD_CALL, BACKWARD_KINDS[kind], caller, backward_call=key)
    state.phase = BACKWARD
    return call
