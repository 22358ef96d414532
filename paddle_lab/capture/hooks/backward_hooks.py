"""Hooks around the two C++ functions that all backward entry points of Paddle call.

``Tensor.backward`` and ``paddle.autograd.backward`` call ``core.eager.run_backward``;
``paddle.grad`` calls ``core.eager.run_partial_grad``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any

from paddle_lab.capture.backward_graph.double_grad import attribute_made_nodes
from paddle_lab.capture.backward_graph.graphs import PADDLE_GRAD_OP
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.events.gradient_stops import note_rootless
from paddle_lab.capture.flight.flight_record import FLIGHT
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.hooks.recorded_calls import OpenCall, recording
from paddle_lab.capture.hooks.tracebacks import drop_lines
from paddle_lab.capture.memory.log.allocator_log import ALLOCATOR_LOG
from paddle_lab.capture.memory.log.segments import BackwardSpan
from paddle_lab.capture.recorder.faults import described
from paddle_lab.capture.recorder.recorder import BACKWARD_CALL
from paddle_lab.capture.recorder.thread_state import BACKWARD
from paddle_lab.trace.schema import BACKWARD_KINDS

TENSOR_BACKWARD = BACKWARD_KINDS.index("Tensor.backward")
PADDLE_GRAD = BACKWARD_KINDS.index("paddle.grad")
AUTOGRAD_BACKWARD = BACKWARD_KINDS.index("paddle.autograd.backward")
REMAINING = BACKWARD_KINDS.index("remaining")


def backward_patches(_paddle: Any) -> list[AttributePatch]:
    """Return the patches around ``run_backward`` and ``run_partial_grad``."""
    return [
        DOOR.patch("run_backward", lambda run: recording(run, _BackwardCall, _logged)),
        DOOR.patch("run_partial_grad", lambda run: recording(run, _GradCall, _logged)),
    ]


class _BackwardCall(OpenCall):
    """A call of ``run_backward(tensors, grad_tensors, retain_graph, …)`` while it runs."""

    def begin(self, _frame: FrameType) -> None:
        names = "tensors", "grad_tensors", "retain_graph"
        given = dict(zip(names, self.args, strict=False)) | self.kwargs
        is_method = self.caller.f_code.co_filename.endswith("tensor_patch_methods.py")
        self.open(
            TENSOR_BACKWARD if is_method else AUTOGRAD_BACKWARD,
            (given["tensors"], given.get("grad_tensors")),
            retain_graph=bool(given.get("retain_graph")),
        )

    def open(
        self,
        kind: int,
        roots: tuple[Any, Any],
        *,
        create_graph: bool = False,
        retain_graph: bool = True,
    ) -> None:
        """Walk the graph of a call, and open its scope.

        Parameters
        ----------
        roots
            The call's tensors, and the gradients that it begins with.
        """
        recorder, state = self.recorder, self.state
        key = recorder.next_backward_call()
        stack = recorder.stacks.take(self.caller, state.anchor, state.anchor_stack)
        note_rootless(recorder, roots[0], self.caller)
        if kind != PADDLE_GRAD:
            recorder.step_gradients.note_backward()
            recorder.tensor_lives.look()
            recorder.step_looks.note_loss(key, roots[0])
        is_asked = create_graph or recorder.on_backward is not None
        reached = recorder.backward.walk(roots[0], key, returns_reached=is_asked)
        op_count = recorder.next_op.next
        self.modes = kind, create_graph, retain_graph
        self.row = key, kind, stack, state.scope, op_count, create_graph, retain_graph
        self._watch = recorder.on_backward and recorder.on_backward(key, reached, roots)
        # The nodes keep the graph alive, which most calls are about to free.
        self.reached = reached if create_graph else {}
        name = BACKWARD_KINDS[kind]
        recorder.open_scope(state, BACKWARD_CALL, name, self.caller, backward_call=key)
        state.phase = BACKWARD

    def end(self) -> None:
        """Record a call that returned."""
        self._close("")

    def fail(self) -> None:
        """Record a call that raised."""
        self._close(described(self.error))

    def _close(self, error: str) -> None:
        if self._watch is not None:
            self.recorder.attempt(self._watch.close)
        self.leave()
        if not self.modes[2]:
            self.recorder.attempt(self.recorder.backward.release)
        times = self.state.number, *self.times_ns
        self.recorder.backward_calls.append((*self.row, *times, error))


class _GradCall(_BackwardCall):
    """A running call of ``run_partial_grad``. It is recorded as an op, too.

    Its arguments are ``outputs, inputs, grad_outputs, retain_graph, create_graph, only_inputs,
    allow_unused, no_grad_vars, …``, all by position.
    """

    def begin(self, _frame: FrameType) -> None:
        outputs, inputs, grad_outputs, _, create_graph, _, _, no_grad_vars, *_ = self.args
        self.open(PADDLE_GRAD, (outputs, grad_outputs), create_graph=bool(create_graph))
        self._resolved = self.recorder.begin_op((outputs, inputs), {})
        backward = self.recorder.backward
        backward.ask(inputs, no_grad_vars, self.row[0])
        if create_graph:
            seeds = backward.grad_nodes_of(grad_outputs or [])
            self.reached.update(backward.grad_nodes.reach(seeds))

    def end(self) -> None:
        """Record a call that returned."""
        super().end()
        op = self.recorder.end_op(
            PADDLE_GRAD_OP, (), self._resolved, self.result, *self.times_ns, self.caller,
            phase=BACKWARD,
        )  # fmt: skip
        backward, (_, create_graph, _) = self.recorder.backward, self.modes
        if create_graph:
            made = attribute_made_nodes(backward.grad_nodes_of(self.result), self.reached, op)
            backward.hold(made | self.reached)


@contextmanager
def _logged(opened: Sequence[_BackwardCall]) -> Iterator[None]:
    """Report running backward calls to the log of allocations."""
    span = _enter_log(opened)
    try:
        with ExitStack() as running:
            for call in opened[:1]:  # once, because all recorders share one flight record
                running.enter_context(FLIGHT.running(BACKWARD_KINDS[call.row[1]], call.caller))
            yield
    except BaseException as error:
        drop_lines(error)
        raise
    finally:
        ALLOCATOR_LOG.leave_backward(span)


def _enter_log(opened: Sequence[_BackwardCall]) -> BackwardSpan | None:
    calls: list[tuple[object, int]] = [(call.recorder, call.row[0]) for call in opened]
    familiar = opened[0].recorder.familiar_calls if len(opened) == 1 else None
    if familiar is None or not ALLOCATOR_LOG.is_recording:
        return ALLOCATOR_LOG.enter_backward(calls)
    recorder = opened[0].recorder
    signature = recorder.attempt(familiar.signature, opened[0].modes) or b""
    is_familiar = bool(signature) and familiar.is_familiar(signature)
    span = ALLOCATOR_LOG.enter_backward(calls, signature, is_familiar=is_familiar)
    if span is not None and span.signature and familiar.is_second(span.signature):
        recorder.next_op.alarm = recorder.next_op.next  # the next op reads the events so far
    return span
