"""Hooks around calls of layers, and around steps of optimizers."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import FrameType
from typing import Any

from paddle_lab.capture.evidence.events.noting import Call, noted
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.hooks.recorded_calls import OpenCall, recording
from paddle_lab.capture.hooks.search import with_own_init, with_subclasses
from paddle_lab.capture.native import NATIVE
from paddle_lab.capture.recorder.recorder import OPTIMIZER_STEP, Recorder
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
    """Return the patches that note new optimizers. Their ``step`` methods have separate hooks."""
    kinds = with_own_init(paddle.optimizer.Optimizer)
    return [noted((kind, "__init__"), _note_optimizer) for kind in kinds]


def _note_optimizer(recorder: Recorder, call: Call) -> None:
    number = recorder.optimizers.entry(call.args[0]).number
    recorder.events.note("called", call.frame, detail=f"Optimizer.__init__ {number}")


def _around_layer(call: Any) -> Callable[..., Any]:
    for_all = recording(call, _LayerCall)
    if NATIVE is None:
        return for_all
    # The native wrapper handles calls while one recorder listens. Otherwise it calls ``for_all``.
    wrapper: Callable[..., Any] = update_wrapper(NATIVE.LayerCall(call, for_all), call)
    return wrapper


class _LayerCall(OpenCall):
    def begin(self, frame: FrameType) -> None:
        self.recorder.enter_layer(self.state, self.args[0], frame)


def _around_step(step: Any) -> Callable[..., Any]:
    kind = _Step if step.__name__ == "step" else _Minimize
    return recording(step, kind)


class _Minimize(OpenCall):
    """A step of an optimizer, with the step of its base class that runs inside."""

    def begin(self, frame: FrameType) -> None:
        recorder, state, optimizer = self.recorder, self.state, self.args[0]
        self._is_outermost = state.phase != OPTIMIZER
        if self._is_outermost:
            recorder.open_scope(state, OPTIMIZER_STEP, type(optimizer).__name__, frame)
            recorder.attempt(recorder.optimizers.note_step, optimizer)
            recorder.attempt(recorder.step_gradients.note_step, optimizer)
            self._looks = recorder.attempt(recorder.step_looks.before, optimizer, state.scope)
            recorder.attempt(recorder.tensor_lives.look)
            state.phase = OPTIMIZER

    def leave(self) -> None:
        scope = self.state.scope
        super().leave()
        if self._is_outermost:
            self.recorder.attempt(self.recorder.step_looks.after, self._looks)
        if self._is_outermost and self.recorder.on_step_end is not None:
            self.recorder.attempt(self.recorder.on_step_end, scope, is_marked=False)


class _Step(_Minimize):
    """A call of ``step``, which may have a closure that the optimizer evaluates (LBFGS)."""

    def begin(self, frame: FrameType) -> None:
        super().begin(frame)
        is_named = "closure" in self.kwargs
        closure = self.kwargs["closure"] if is_named else next(iter(self.args[1:]), None)
        if not callable(closure):
            return
        self._looks = None  # the closure makes the gradients that the step uses
        if is_named:
            self.kwargs["closure"] = self._outside(closure)
        else:
            self.args = (self.args[0], self._outside(closure), *self.args[2:])

    def _outside(self, closure: Callable[..., Any]) -> Callable[..., Any]:
        """Return a closure that runs in the scope in which ``step`` was called."""

        def evaluate(*args: Any, **kwargs: Any) -> Any:
            within = self.state.save()
            self.state.scope, _, self.state.phase, _, _ = self.saved
            try:
                return closure(*args, **kwargs)
            finally:
                self.state.restore(within)

        return evaluate
