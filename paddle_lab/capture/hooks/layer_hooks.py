"""Hooks around calls of layers, PyLayers and optimizers: what ops belong to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import update_wrapper, wraps
from sys import _getframe
from typing import Any

from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.hooks.tracebacks import drop_frame
from paddle_lab.capture.native import NATIVE
from paddle_lab.capture.recorder.faults import attempt
from paddle_lab.capture.recorder.recorder import OPTIMIZER_STEP, Recorder
from paddle_lab.capture.recorder.sinks import SINKS
from paddle_lab.capture.recorder.thread_state import OPTIMIZER, Saved, ThreadState


def layer_patches(paddle: Any) -> list[AttributePatch]:
    """Return the patches around ``Layer.__call__`` and optimizers' ``step`` and ``minimize``."""
    patches = [AttributePatch(paddle.nn.Layer, "__call__", _around_layer)]
    patches += [
        AttributePatch(optimizer, method, _around_step)
        for optimizer in _with_subclasses(paddle.optimizer.Optimizer)
        for method in ("step", "minimize")
        if method in vars(optimizer)
    ]
    return patches


def _with_subclasses(root: type) -> Iterator[type]:
    pending: list[type] = [root]
    seen = {root}
    while pending:
        found = pending.pop()
        yield found
        subclasses: list[type] = found.__subclasses__()
        fresh = [subclass for subclass in subclasses if subclass not in seen]
        seen.update(fresh)
        pending.extend(fresh)


def _around_layer(call: Any) -> Callable[..., Any]:
    @wraps(call)
    def for_all(self: Any, *inputs: Any, **kwargs: Any) -> Any:
        active = SINKS.active
        if not active:
            return call(self, *inputs, **kwargs)
        frame = _getframe()
        entered = [attempt(recorder, recorder.enter_layer, self, frame) for recorder in active]
        opened = [saved for saved in entered if saved is not None]
        try:
            return call(self, *inputs, **kwargs)
        except BaseException as error:
            drop_frame(error)
            raise
        finally:
            for state, saved in opened:
                state.restore(saved)
            # It holds itself by this name, and by its callers all that they hold.
            del frame

    if NATIVE is None:
        return for_all
    # The native one does the same while one recorder listens, and leaves the rest to this one.
    wrapper: Callable[..., Any] = update_wrapper(NATIVE.LayerCall(call, for_all), call)
    return wrapper


def _around_step(step: Any) -> Callable[..., Any]:
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        opened = [_enter_step(recorder, self) for recorder in SINKS.active]
        try:
            if opened and step.__name__ == "step" and args and callable(args[0]):
                args = (_outside(args[0], opened), *args[1:])
            return step(self, *args, **kwargs)
        except BaseException as error:
            drop_frame(error)
            raise
        finally:
            for recorder, state, saved in opened:
                scope, is_outermost = state.scope, state.phase == OPTIMIZER != saved[2]
                state.restore(saved)
                if is_outermost and recorder.on_step_end is not None:
                    attempt(recorder, recorder.on_step_end, scope)

    wrapper.__name__ = step.__name__
    wrapper.__doc__ = step.__doc__
    wrapper.__wrapped__ = step  # type: ignore[attr-defined]
    return wrapper


_OpenStep = tuple[Recorder, ThreadState, Saved]


def _enter_step(recorder: Recorder, optimizer: Any) -> _OpenStep:
    state = recorder.thread()
    saved = state.save()
    if state.phase != OPTIMIZER:  # an optimizer's step may call its base class's
        recorder.open_scope(state, OPTIMIZER_STEP, type(optimizer).__name__, _getframe())
        attempt(recorder, recorder.optimizers.note_step, optimizer)
        attempt(recorder, recorder.step_gradients.note_step, optimizer)
        attempt(recorder, recorder.tensor_lives.look)
        state.phase = OPTIMIZER
    return recorder, state, saved


def _outside(closure: Callable[..., Any], opened: list[_OpenStep]) -> Callable[..., Any]:
    """Let a closure that an optimizer evaluates (LBFGS) belong to where ``step`` was called."""

    def evaluate(*args: Any, **kwargs: Any) -> Any:
        within = [state.save() for _, state, _ in opened]
        for _, state, saved in opened:
            state.scope, _, state.phase, _, _ = saved
        try:
            return closure(*args, **kwargs)
        finally:
            for (_, state, _), saved in zip(opened, within, strict=True):
                state.restore(saved)

    return evaluate
