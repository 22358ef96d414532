"""Hooks around ``PyLayer.apply`` and the Python that a PyLayer runs backward."""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from time import perf_counter_ns
from types import FrameType
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.hooks.tracebacks import drop_frame
from paddle_lab.capture.recorder.faults import attempt
from paddle_lab.capture.recorder.recorder import PYLAYER, Recorder
from paddle_lab.capture.recorder.sinks import SINKS
from paddle_lab.capture.recorder.thread_state import Saved, ThreadState


def pylayer_patches(paddle: Any) -> list[AttributePatch]:
    """Return the patches around ``PyLayer.apply`` and ``PyLayerBackward.backward``."""
    native = vars(DOOR.pylayer_type)["apply"]
    return [
        AttributePatch(paddle.autograd.PyLayer, "apply", lambda _bound: _around_apply(native)),
        AttributePatch(DOOR.pylayer_context, "__init__", _around_context),
        AttributePatch(DOOR.pylayer_context, "backward", _around_backward),
    ]


def _around_apply(native: Any) -> Any:
    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        call = native.__get__(None, cls)
        active = SINKS.active
        if not active:
            return call(*args, **kwargs)
        frame = _getframe()
        caller = frame.f_back
        calls = [
            attempt(recorder, _OpenCall, recorder, cls, frame, args, kwargs) for recorder in active
        ]
        del frame  # it holds itself by this name, and by its callers all that they hold
        opened = [opened for opened in calls if opened is not None]
        start_ns = perf_counter_ns()
        try:
            result = call(*args, **kwargs)
        except BaseException as error:
            end_ns = perf_counter_ns()
            for call_of_one in opened:
                attempt(call_of_one.recorder, call_of_one.fail, error, start_ns, end_ns, caller)
            drop_frame(error)
            raise
        end_ns = perf_counter_ns()
        for call_of_one in opened:
            attempt(call_of_one.recorder, call_of_one.end, result, start_ns, end_ns, caller)
        return result

    return classmethod(apply)


class _OpenCall:
    """One call of ``PyLayer.apply`` while it runs, for one recorder."""

    def __init__(
        self,
        recorder: Recorder,
        pylayer: type,
        frame: FrameType,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        self.recorder = recorder
        self._pylayer = pylayer
        self._name = pylayer.__name__
        self._args = args
        self._kwargs = kwargs
        self._resolved = recorder.begin_op(args, kwargs)
        self._state = recorder.thread()
        self._saved = self._state.save()
        self._scope = recorder.open_scope(self._state, PYLAYER, self._name, frame)
        recorder.anchor(self._state, frame)
        self._state.pylayers.append(self._scope)

    def end(self, result: Any, start_ns: int, end_ns: int, caller: FrameType | None) -> None:
        """Record a call that returned."""
        self._leave()
        rules = self.recorder.pylayer_rules
        rules.note_call(self._pylayer, self._scope, (*self._args, *self._kwargs.values()), caller)
        rules.note_result(self._pylayer, result, caller)
        made = self.recorder.known_keys(result)
        op = self.recorder.end_op(
            self._name, self._args, self._resolved, result, start_ns, end_ns, caller,
            is_pylayer=True,
        )  # fmt: skip
        self.recorder.results.extend([cell for tensor in made for cell in (op, tensor)])
        self._record_op(op)

    def fail(
        self, error: BaseException, start_ns: int, end_ns: int, caller: FrameType | None
    ) -> None:
        """Record a call that raised."""
        self._leave()
        self.recorder.pylayer_rules.note_refusal(error, caller)
        op = self.recorder.fail_op(
            self._name, self._resolved, start_ns, end_ns, caller, is_pylayer=True
        )
        self._record_op(op)

    def _leave(self) -> None:
        self._state.pylayers.pop()
        self._state.restore(self._saved)
        # The op stands in its own group, called from outside of it.
        self._state.scope = self._scope

    def _record_op(self, op: int) -> None:
        self.recorder.scope_ops[self._scope] = op
        self._state.restore(self._saved)


def _around_context(init: Any) -> Callable[..., None]:
    # C++ makes the context inside ``apply``, and calls ``backward`` on the very same object later.
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        init(self, *args, **kwargs)
        for recorder in SINKS.active:
            pylayers = recorder.thread().pylayers
            if pylayers:
                attempt(recorder, recorder.note_pylayer_context, self, pylayers[-1])

    return __init__


def _around_backward(backward: Any) -> Callable[..., Any]:
    def wrapper(self: Any, *args: Any) -> Any:
        frame = _getframe()
        entered = [
            attempt(recorder, _enter_backward, recorder, self, frame) for recorder in SINKS.active
        ]
        del frame
        opened = [saved for saved in entered if saved is not None]
        try:
            result = backward(self, *args)
        except BaseException as error:
            drop_frame(error)
            raise
        else:
            for recorder in SINKS.active:
                attempt(recorder, _note_gradients, recorder, self, result)
            return result
        finally:
            for state, saved in opened:
                state.restore(saved)

    wrapper.__name__ = "backward"
    wrapper.__wrapped__ = backward  # type: ignore[attr-defined]
    return wrapper


def _name_of(context: Any) -> str:
    # Paddle makes a class of contexts for each PyLayer, and calls it ``Name_backward``.
    return type(context).__name__.removesuffix("_backward")


def _note_gradients(recorder: Recorder, context: Any, gradients: Any) -> None:
    scope = recorder.pylayer_scope_of(context)
    recorder.pylayer_rules.note_gradients(scope, gradients, _getframe(2))


def _enter_backward(
    recorder: Recorder, context: Any, frame: FrameType
) -> tuple[ThreadState, Saved]:
    state = recorder.thread()
    saved = state.save()
    scope = recorder.open_scope(state, PYLAYER, _name_of(context), frame)
    recorder.backward_of[scope] = recorder.pylayer_scope_of(context)
    recorder.anchor(state, frame)
    return state, saved
