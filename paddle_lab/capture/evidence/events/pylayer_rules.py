"""Checks that PyLayers follow Paddle's rules for arguments, results and gradients.

Paddle tracks a tensor only if the tensor is an argument itself, or an item of a list or tuple that
is an argument. Tensors in a list of lists, a dict or a dataclass silently get no gradient. Paddle
matches the gradients that ``backward`` returns with the tracked tensors by position. It does not
check their shapes, and it does not report a missing gradient.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable, Iterator
from types import FrameType, SimpleNamespace
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.events.event_log import EventLog
from paddle_lab.capture.recorder.faults import described

_DEEPEST = 4
_MOST_ITEMS = 256

Tracked = tuple[tuple[int, ...], bool]
"""Shape of a tracked tensor, and whether it needs a gradient."""
Slot = Tracked | list[Tracked]


class PyLayerRules:
    """Checks the PyLayer calls of a trace.

    Parameters
    ----------
    events
        The log in which broken rules are recorded.
    tensor_type
        ``paddle.Tensor``.
    """

    def __init__(self, events: EventLog, tensor_type: type) -> None:
        self._events, self._tensor_type = events, tensor_type
        self._slots: dict[int, list[Slot]] = {}
        """Maps the scope of a call to its tracked arguments."""

    def note_call(
        self, pylayer: type, scope: int, arguments: Iterable[Any], frame: FrameType | None
    ) -> None:
        """Check the arguments of a call that has ended. The call's scope is still open."""
        if not _is_checked(pylayer):
            return
        slots = self._slots[scope] = []
        for position, argument in enumerate(arguments):
            if self._is_tensor(argument):
                slots.append(_tracked(argument))
            elif (
                isinstance(argument, (list, tuple))
                and argument
                and all(map(self._is_tensor, argument))
            ):
                slots.append([_tracked(tensor) for tensor in argument])
                if argument[0].stop_gradient and any(map(_needs_gradient, argument)):
                    self._note("list-begins-without-gradient", frame, position)
            elif any(map(_needs_gradient, self._hidden(argument))):
                is_nested = isinstance(argument, (list, tuple))
                self._note("nested-argument" if is_nested else "held-argument", frame, position,
                           type(argument).__name__)  # fmt: skip

    def note_result(self, pylayer: type, result: Any, frame: FrameType | None) -> None:
        """Check the result of a call."""
        if not _is_checked(pylayer):
            return
        outputs = result if isinstance(result, (list, tuple)) else (result,)
        for position, output in enumerate(outputs):
            if not self._is_tensor(output) and any(True for _ in self._hidden(output)):
                self._note("hidden-output", frame, position, type(output).__name__)

    def note_refusal(self, error: BaseException, frame: FrameType | None) -> None:
        """Check the exception of a call that failed."""
        traceback = error.__traceback__
        is_paddles = "eager_py_layer.cc" in str(error)
        # No frame of the user's code ran, so the arguments do not match ``forward``.
        is_signature = isinstance(error, TypeError) and (
            traceback is None or traceback.tb_next is None
        )
        if is_paddles or is_signature:
            self._note("refused", frame, 0, described(error).partition(" (at /paddle")[0].strip())

    def note_gradients(self, scope: int, gradients: Any, frame: FrameType | None) -> None:
        """Check the gradients that a ``backward`` returned.

        Paddle replaces ``None`` by zeros, and this is recorded as an event. The scope of the event
        is that of the backward, which refers to the PyLayer's op. The detail has the positions of
        ``None``, as in ``"pylayer 0,2"``.

        Parameters
        ----------
        scope
            Scope of the forward call.
        """
        given = gradients if isinstance(gradients, (tuple, list)) else (gradients,)
        left_out = [str(number) for number, value in enumerate(given) if value is None]
        if left_out:
            detail = f"pylayer {','.join(left_out)}"
            self._events.note("gradient_stopped", frame, detail=detail)
        if isinstance(gradients, list):  # Paddle takes a list as the gradient of one argument
            given = (gradients,)
        for position, (slot, gradient) in enumerate(
            zip(self._slots.get(scope, ()), given, strict=False)
        ):
            pairs = (
                zip(slot, gradient, strict=False)
                if isinstance(slot, list) and isinstance(gradient, (list, tuple))
                else ((slot, gradient),)
            )
            for tracked, one in pairs:
                if isinstance(tracked, tuple):
                    self._compare(tracked, one, position, frame)

    def forget(self, scopes: Iterable[int]) -> None:
        """Drop calls, given by their scopes."""
        for scope in scopes:
            self._slots.pop(scope, None)

    def _compare(
        self, tracked: Tracked, gradient: Any, position: int, frame: FrameType | None
    ) -> None:
        shape, needs_gradient = tracked
        if not needs_gradient:
            return
        if gradient is None:
            self._note("missing-gradient", frame, position)
        elif self._is_tensor(gradient) and DOOR.is_initialized(gradient):
            given = tuple(gradient.shape)
            if [size for size in given if size != 1] != [size for size in shape if size != 1]:
                self._note("wrong-shape", frame, position, f"{list(given)} for {list(shape)}")

    def _note(self, rule: str, frame: FrameType | None, position: int, more: str = "") -> None:
        detail = f"{rule} {position} {more}".rstrip()
        self._events.note("pylayer_rule", frame, detail=detail)

    def _is_tensor(self, value: Any) -> bool:
        return isinstance(value, self._tensor_type)

    def _hidden(self, value: Any, depth: int = 0) -> Iterator[Any]:
        """Yield the tensors in containers that Paddle does not search for tensors."""
        if self._is_tensor(value):
            yield value
            return
        if depth == _DEEPEST:
            return
        for item in _items(value)[:_MOST_ITEMS]:
            yield from self._hidden(item, depth + 1)


def _items(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, SimpleNamespace) or (
        dataclasses.is_dataclass(value) and not isinstance(value, type)
    ):
        return list(getattr(value, "__dict__", {}).values())
    return []


def _needs_gradient(tensor: Any) -> bool:
    return not tensor.stop_gradient


def _tracked(tensor: Any) -> Tracked:
    is_defined = DOOR.is_initialized(tensor)
    return (tuple(tensor.shape) if is_defined else ()), is_defined and not tensor.stop_gradient


def _is_checked(pylayer: type) -> bool:
    # Skip Paddle's own PyLayers, such as recomputation: they handle layers and keywords themselves.
    is_paddles = pylayer.__module__.partition(".")[0] in ("paddle", "paddleformers", "paddlenlp")
    return not is_paddles and bool(sys.modules["paddle"].is_grad_enabled())
