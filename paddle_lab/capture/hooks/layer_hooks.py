"""Hooks around calls of layers, and around steps of optimizers."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper, wraps
from sys import _getframe
from types import FrameType
from typing import Any

from paddle_lab.capture.evidence.events.noting import Call, noting
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.hooks.recorded_calls import OpenCall, recording
from paddle_lab.capture.hooks.search import with_subclasses
from paddle_lab.capture.hooks.tracebacks import drop_frame
from paddle_lab.capture.native import NATIVE
from paddle_lab.capture.recorder.recorder import OPTIMIZER_STEP, SINKS, Recorder
from paddle_lab.capture.recorder.thread_state import OPTIMIZER


def layer_patches(paddle: Any) -> list[AttributePatch]:
    """Return the patches around ``Layer.__call__`` and optimizers' ``step`` and ``minimize``."""
    patches = [AttributePatch(paddle.nn.Layer, "__call__", _around_layer)]
    patches += [
        AttributePatch(optimizer, method, _around_step)
        for optimizer in with_subclasses(paddle.optimizer.Optimizer)
        for method in ("step", "minimize")
        if method in vars(optimizer)
    ]
    return patches


def optimizer_patches(paddle: Any) -> list[AttributePatch]:
    """Return the patch that sees optimizers made; their steps have hooks of their own."""
    return [
        AttributePatch(
            paddle.optimizer.Optimizer, "__init__", lambda init: noting(init, _note_optimizer)
        )
    ]


def _note_optimizer(recorder: Recorder, call: Call) -> None:
    recorder.optimizers.entry(call.args[0])


def _around_layer(call: Any) -> Callable[..., Any]:
    for_all = recording(call, _LayerCall)
    if NATIVE is None:
        return for_all
    # The native one does the same while one recorder listens, and leaves the rest to this one.
    wrapper: Callable[..., Any] = update_wrapper(NATIVE.LayerCall(call, for_all), call)
    return wrapper


class _LayerCall(OpenCall):
    def begin(self, frame: FrameType) -> None:
        self.recorder.enter_layer(self.state, self.args[0], frame)


def _around_step(step: Any) -> Callable[..., Any]:
    @wraps(step)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        frame = _getframe()
        begun = [
            recorder.attempt(_Step, recorder, frame, args, kwargs) for recorder in SINKS.active
        ]
        del frame  # it holds itself by this name
        opened = [call for call in begun if call is not None]
        try:
            if opened and step.__name__ == "step" and len(args) > 1 and callable(args[1]):
                args = (args[0], _outside(args[1], opened), *args[2:])
            return step(*args, **kwargs)
        except BaseException as error:
            drop_frame(error)
            raise
        finally:
            for call in opened:
                call.leave()

    return wrapper


class _Step(OpenCall):
    """A step of an optimizer; one that its base class takes for it is a part of it."""

    def begin(self, frame: FrameType) -> None:
        recorder, state, optimizer = self.recorder, self.state, self.args[0]
        self._is_outermost = state.phase != OPTIMIZER
        if self._is_outermost:
            recorder.open_scope(state, OPTIMIZER_STEP, type(optimizer).__name__, frame)
            recorder.attempt(recorder.optimizers.note_step, optimizer)
            recorder.attempt(recorder.step_gradients.note_step, optimizer)
            recorder.attempt(recorder.tensor_lives.look)
            state.phase = OPTIMIZER

    def leave(self) -> None:
        scope = self.state.scope
        super().leave()
        if self._is_outermost and self.recorder.on_step_end is not None:
            self.recorder.attempt(self.recorder.on_step_end, scope, is_marked=False)


def _outside(closure: Callable[..., Any], opened: list[_Step]) -> Callable[..., Any]:
    """Let a closure that an optimizer evaluates (LBFGS) belong to where ``step`` was called."""

    def evaluate(*args: Any, **kwargs: Any) -> Any:
        within = [call.state.save() for call in opened]
        for call in opened:
            call.state.scope, _, call.state.phase, _, _ = call.saved
        try:
            return closure(*args, **kwargs)
        finally:
            for call, saved in zip(opened, within, strict=True):
                call.state.restore(saved)

    return evaluate
