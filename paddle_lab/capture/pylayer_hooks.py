"""Hooks around ``PyLayer.apply`` and the Python that a PyLayer runs backward."""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from time import perf_counter_ns
from typing import Any

from paddle_lab.capture.patches import AttributePatch
from paddle_lab.capture.recorder import PYLAYER
from paddle_lab.capture.sinks import SINKS
from paddle_lab.capture.tracebacks import drop_frame


def pylayer_patches(paddle: Any) -> list[AttributePatch]:
    """Return the patches around ``PyLayer.apply`` and ``PyLayerBackward.backward``."""
    py_layer = paddle.autograd.py_layer
    native = vars(paddle.base.core.eager.PyLayer)["apply"]
    return [
        AttributePatch(py_layer.PyLayer, "apply", lambda _bound: _around_apply(native)),
        AttributePatch(py_layer.PyLayerBackward, "__init__", _around_context),
        AttributePatch(py_layer.PyLayerBackward, "backward", _around_backward),
    ]


def _around_apply(native: Any) -> Any:
    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        call = native.__get__(None, cls)
        active = SINKS.active
        if not active:
            return call(*args, **kwargs)
        frame = _getframe()
        opened = []
        for recorder in active:
            state = recorder.thread()
            resolved = recorder.begin_op(args, kwargs)
            saved = state.save()
            scope = recorder.open_scope(state, PYLAYER, cls.__name__)
            recorder.anchor(state, frame)
            state.pylayers.append(scope)
            opened.append((recorder, state, saved, scope, resolved))
        result = None
        has_returned = False
        start_ns = perf_counter_ns()
        try:
            result = call(*args, **kwargs)
            has_returned = True
        except BaseException as error:
            drop_frame(error)
            raise
        finally:
            end_ns = perf_counter_ns()
            for recorder, state, saved, scope, resolved in opened:
                state.pylayers.pop()
                state.restore(saved)
                state.scope = scope  # the op stands in its own group, called from outside of it
                if has_returned:
                    made = recorder.known_keys(result)
                    op = recorder.end_op(
                        cls.__name__, args, resolved, result, start_ns, end_ns, frame.f_back,
                        is_pylayer=True,
                    )  # fmt: skip
                    recorder.results.extend((op, tensor) for tensor in made)
                else:
                    op = recorder.fail_op(
                        cls.__name__, resolved, start_ns, end_ns, frame.f_back, is_pylayer=True
                    )
                recorder.scope_ops[scope] = op
                state.restore(saved)
        return result

    return classmethod(apply)


def _around_context(init: Any) -> Callable[..., None]:
    # C++ makes the context inside ``apply``, and calls ``backward`` on the very same object later.
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        init(self, *args, **kwargs)
        for recorder in SINKS.active:
            pylayers = recorder.thread().pylayers
            if pylayers:
                recorder.note_pylayer_context(self, pylayers[-1])

    return __init__


def _around_backward(backward: Any) -> Callable[..., Any]:
    def wrapper(self: Any, *args: Any) -> Any:
        frame = _getframe()
        opened = []
        for recorder in SINKS.active:
            state = recorder.thread()
            opened.append((state, state.save()))
            forward_scope = recorder.pylayer_scope_of(self)
            scope = recorder.open_scope(state, PYLAYER, self._forward_cls.__name__)
            recorder.backward_of[scope] = forward_scope
            recorder.anchor(state, frame)
        try:
            return backward(self, *args)
        except BaseException as error:
            drop_frame(error)
            raise
        finally:
            for state, saved in opened:
                state.restore(saved)

    wrapper.__name__ = "backward"
    wrapper.__wrapped__ = backward  # type: ignore[attr-defined]
    return wrapper
