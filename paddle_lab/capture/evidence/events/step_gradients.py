"""Finds optimizer steps that use gradients that an earlier step has used, or left for others.

The gradients that a step uses are remembered. If such a gradient still exists and is not zero when
the next backward begins, this backward adds to it, and the next step uses the sum. To keep this
cheap, only a few of the smallest parameters of each optimizer are checked.

Gradients of other optimizers' parameters are remembered too: a backward call made them for this
step, and they remain for the next step of the others.
"""

from __future__ import annotations

import weakref
from sys import _getframe
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.events.event_log import EventLog
from paddle_lab.capture.evidence.events.lost_settings import lost_settings, setting_place
from paddle_lab.capture.evidence.optimizers import OptimizerLog, parameters_of
from paddle_lab.capture.evidence.values.statistics import statistics_of
from paddle_lab.capture.recorder.tensors import TensorPool

_MOST_WATCHED = 3
_LOST, _FOREIGN = "lost_setting", "foreign_gradient"


class _Used:
    """A parameter whose gradient existed at a step."""

    def __init__(self, parameter: Any, optimizer: int) -> None:
        self.reference = weakref.ref(parameter)
        self.optimizer = optimizer
        """The number of the optimizer that stepped."""
        self.is_added_to = False
        """Whether a backward has begun while the used gradient still existed."""


class StepGradients:
    """The gradients that steps of a trace used and that were not cleared afterwards.

    Parameters
    ----------
    events
        The log in which stale gradients are recorded.
    tensors
        The tensors that the trace has seen.
    optimizers
        The optimizers that the trace has seen.
    """

    def __init__(self, events: EventLog, tensors: TensorPool, optimizers: OptimizerLog) -> None:
        self._events, self._tensors, self._optimizers = events, tensors, optimizers
        self._used: dict[int, _Used] = {}

    def note_step(self, optimizer: Any) -> None:
        """Check for stale gradients, before a call of ``step`` changes anything."""
        self._note_lost_settings(optimizer)
        seen, watched = self._optimizers.entry(optimizer), self._watched(optimizer)
        stale = [parameter for parameter in watched if self._is_stale(parameter)]
        makers = {self._used[id(parameter)].optimizer: parameter for parameter in stale}
        if seen.number in makers:
            self._events.note(
                "stale_gradient",
                _getframe(),
                tensor=self._tensors.key_of(makers[seen.number]),
                detail=type(optimizer).__name__,
            )
        for one in makers.keys() - {seen.number}:
            self._events.note("called", _getframe(), detail=f"{_FOREIGN} {seen.number} {one}")
        self._used |= {id(parameter): _Used(parameter, seen.number) for parameter in watched}
        for other in list(self._optimizers.seen.values()):
            for parameter in (reference() for reference in other.watched):
                if parameter is not None:
                    self._used.setdefault(id(parameter), _Used(parameter, seen.number))

    def _note_lost_settings(self, optimizer: Any) -> None:
        seen = self._optimizers.entry(optimizer)
        if seen.steps & (seen.steps - 1):
            return
        for name in lost_settings(optimizer):
            detail = f"{_LOST} {type(optimizer).__name__} {name}"
            places = setting_place(_getframe(), name)
            self._events.note("called", _getframe(), detail=detail, places=places)

    def note_backward(self) -> None:
        """Find used gradients that were not cleared, before backward adds to them."""
        for identity, used in list(self._used.items()):
            parameter = used.reference()
            # Do not call Tensor.numpy(), because a trace with memory would record its copy.
            gradient = None if parameter is None else _gradient(parameter)
            found = None if gradient is None else statistics_of(gradient)
            if found is not None and found.zeros < found.elements:
                used.is_added_to = True
            else:
                self._used.pop(identity, None)  # another thread may have removed the entry

    def _is_stale(self, parameter: Any) -> bool:
        used = self._used.get(id(parameter))
        return used is not None and used.is_added_to and used.reference() is parameter

    def _watched(self, optimizer: Any) -> list[Any]:
        seen = self._optimizers.entry(optimizer)
        watched = [
            parameter for reference in seen.watched if (parameter := reference()) is not None
        ]
        if not watched or any(_gradient(parameter) is None for parameter in watched):
            able = [
                parameter
                for parameter in parameters_of(optimizer)
                if _gradient(parameter) is not None
            ]
            watched = sorted(able, key=lambda parameter: int(parameter.size))[:_MOST_WATCHED]
            seen.watched = list(map(weakref.ref, watched))
        return watched


def _gradient(parameter: Any) -> Any:
    """Return a parameter's gradient, ``None`` if there is none or it cannot be read."""
    if not DOOR.is_initialized(parameter) or parameter.stop_gradient:
        return None
    gradient = parameter.grad
    if gradient is None or not DOOR.is_initialized(gradient) or not DOOR.is_dense(gradient):
        return None
    return gradient
