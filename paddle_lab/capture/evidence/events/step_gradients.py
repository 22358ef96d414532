"""Whether a step of an optimizer uses gradients that an earlier step has already used.

A step marks the gradients it uses. If they are still there, and not zero, when backward begins
next, that backward adds to them, and the next step uses the sum. A few parameters stand for all
that an optimizer trains, the smallest ones: looking at their gradients is all this costs.
"""

from __future__ import annotations

import weakref
from sys import _getframe
from types import FrameType
from typing import TYPE_CHECKING, Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.optimizers import parameters_of
from paddle_lab.capture.evidence.values.statistics import statistics_of

if TYPE_CHECKING:
    from paddle_lab.capture.recorder.recorder import Recorder

_MOST_WATCHED = 3


class _Watched:
    """A parameter whose gradient a step has used."""

    def __init__(self, parameter: Any) -> None:
        self.reference = weakref.ref(parameter)
        self.is_added_to = False
        """Whether backward has begun with the used gradient still there."""


class StepGradients:
    """The gradients that steps of one trace used and nobody has cleared.

    Parameters
    ----------
    recorder
        Whose events tell of them.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._used: dict[int, _Watched] = {}
        self._chosen: dict[int, tuple[weakref.ref[Any], list[weakref.ref[Any]]]] = {}

    def note_step(self, optimizer: Any) -> None:
        """Note that a step of the user's begins, before it changes anything."""
        watched = self._watched(optimizer)
        stale = [
            parameter
            for parameter in watched
            if (known := self._known(parameter)) is not None and known.is_added_to
        ]
        if stale:
            self._recorder.events.note(
                "stale_gradient",
                _users_frame(),
                tensor=self._recorder.tensors.key_of(stale[0]),
                detail=type(optimizer).__name__,
            )
        for parameter in watched:
            self._used[id(parameter)] = _Watched(parameter)

    def note_backward(self) -> None:
        """Note that backward begins, before it adds to any gradient."""
        for identity, known in list(self._used.items()):
            parameter = known.reference()
            if parameter is None or not _has_gradient(parameter):
                del self._used[identity]
            else:
                known.is_added_to = True

    def _known(self, parameter: Any) -> _Watched | None:
        known = self._used.get(id(parameter))
        return known if known is not None and known.reference() is parameter else None

    def _watched(self, optimizer: Any) -> list[Any]:
        chosen = self._chosen.get(id(optimizer))
        if chosen is not None and chosen[0]() is optimizer:
            watched = [
                parameter for reference in chosen[1] if (parameter := reference()) is not None
            ]
            if watched and all(_gradient(parameter) is not None for parameter in watched):
                return watched
        able = [
            parameter for parameter in parameters_of(optimizer) if _gradient(parameter) is not None
        ]
        watched = sorted(able, key=lambda parameter: int(parameter.size))[:_MOST_WATCHED]
        self._chosen[id(optimizer)] = weakref.ref(optimizer), list(map(weakref.ref, watched))
        return watched


def _gradient(parameter: Any) -> Any:
    """Return a parameter's gradient, ``None`` where it has none that could be looked at."""
    if not DOOR.is_initialized(parameter) or parameter.stop_gradient:
        return None
    gradient = parameter.grad
    if gradient is None or not DOOR.is_initialized(gradient) or not DOOR.is_dense(gradient):
        return None
    return gradient


def _has_gradient(parameter: Any) -> bool:
    gradient = _gradient(parameter)
    if gradient is None:
        return False
    # Tensor.numpy() would copy the gradient, in memory that a recording of memory sees.
    found = statistics_of(gradient)
    return found is not None and found.zeros < found.elements


def _users_frame() -> FrameType:
    """Return the frame that called the hook of ours."""
    frame = _getframe(1)
    while frame.f_back is not None and _is_own(frame):
        frame = frame.f_back
    return frame


def _is_own(frame: FrameType) -> bool:
    package = frame.f_globals.get("__package__") or ""
    return str(package).partition(".")[0] == __package__.partition(".")[0]
