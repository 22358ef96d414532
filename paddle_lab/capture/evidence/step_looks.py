"""Records the learning rate of optimizer steps, and examines some parameters in some steps.

The learning rate is recorded in each step. Parameters are examined in the first four steps of an
optimizer, and then in steps 8, 16, 32, …: whether a parameter had a gradient, and whether the step
changed it. Only the first 4,096 values of at most 16 parameters in CPU memory are read.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.optimizers import OptimizerLog, parameters_of
from paddle_lab.capture.evidence.values.memory import bytes_at, digest_at, memory_of
from paddle_lab.capture.evidence.values.scan import KINDS, STORED, scan
from paddle_lab.capture.recorder.tensors import TensorPool
from paddle_lab.capture.rows.cells import NO_KEY
from paddle_lab.trace.floats import float_bits
from paddle_lab.trace.table import StringPool, TableBuilder

if TYPE_CHECKING:
    from paddle_lab.capture.tables.row_keys import RecordKeys

_MOST_PARAMETERS = 16
MOST_VALUES = 1 << 12
_ALL_UP_TO = 4
_MOST_STEPS = 1 << 14
_FEW_VALUES = 16
_NONE, _ZEROS, _VALUES = range(3)
_SMALLEST = 1e-7
"""A gradient with a smaller root mean square counts as zero: steps round its effect away."""


_Look = tuple[int, int, Any, tuple[int, int, int], int, bool]
"""The step, the state of the gradient, the parameter, where its values are, their checksum, and
whether units are equal."""


class StepLooks:
    """Records the optimizer steps of a trace.

    Parameters
    ----------
    tensors
        The tensors that the trace has seen.
    optimizers
        The optimizers that the trace has seen.
    number_of
        Returns the number that identifies an object in events.
    """

    def __init__(
        self,
        tensors: TensorPool,
        optimizers: OptimizerLog,
        number_of: Callable[[object], int],
    ) -> None:
        self._tensors, self._optimizers, self._number_of = tensors, optimizers, number_of
        self._steps: list[tuple[int, int, float, str, str]] = []
        self._changes: list[tuple[int, ...]] = []
        self._losses: list[tuple[int, float]] = []

    def note_loss(self, backward_call: int, roots: Any) -> None:
        """Record the value of a backward call's loss, if it is a single number in CPU memory."""
        loss = roots[0] if isinstance(roots, (list, tuple)) and len(roots) == 1 else roots
        if len(self._losses) >= _MOST_STEPS or isinstance(loss, (list, tuple)):
            return
        place = memory_of(loss)
        if place is not None and math.prod(loss.shape) == 1:
            _, nans, infs, _, number, *_ = scan(*place, False)  # noqa: FBT003
            self._losses.append((backward_call, math.inf if nans or infs else number))

    def before(self, optimizer: Any, scope: int) -> list[_Look]:
        """Examine parameters before a step changes them. The step was already counted."""
        if len(self._steps) >= _MOST_STEPS or not DOOR.has("optimizers"):
            return []
        if type(optimizer).__module__.startswith("paddle.incubate"):
            return []  # such an optimizer wraps another, and has a learning rate of zero
        try:
            return self._begin(optimizer, scope)
        except AttributeError:  # another kind of optimizer, without a learning rate or clip
            return []

    def _begin(self, optimizer: Any, scope: int) -> list[_Look]:
        seen = self._optimizers.entry(optimizer)
        rate, clip = DOOR.learning_rate(optimizer), DOOR.gradient_clip(optimizer)
        schedule = "" if isinstance(rate, (int, float)) else self._named(rate)
        number = float(optimizer.get_lr())
        clipping = "" if clip is None else self._named(clip)
        step, looks = len(self._steps), []
        self._steps.append((scope, seen.number, number, schedule, clipping))
        if seen.steps <= _ALL_UP_TO or seen.steps & (seen.steps - 1) == 0:
            for parameter in _some(list(parameters_of(optimizer))):
                looks += _looked(parameter, step)
        return looks

    def _named(self, one: object) -> str:
        return f"{type(one).__name__} {self._number_of(one)}"

    def after(self, looks: list[_Look] | None) -> None:
        """Examine the same parameters after the step."""
        for step, state, parameter, place_before, before, equal in looks or ():
            place = _place_after(parameter, place_before)
            key = self._tensors.known_key(parameter)
            if place is not None and key != NO_KEY:
                after = digest_at(*place)
                self._changes.append((step, key, state, before != after, equal, before, after))

    def add_rows(
        self, builders: dict[str, TableBuilder], strings: StringPool, keys: RecordKeys
    ) -> None:
        """Fill ``optimizer_steps``, ``parameter_steps`` and ``losses``."""
        scopes = keys.scopes.rows(np.array([step[0] for step in self._steps], np.int64)).tolist()
        rows: list[int] = []
        for scope, (_, number, rate, schedule, clip) in zip(scopes, self._steps, strict=True):
            cells = (scope, number, float_bits([rate])[0], strings[schedule], strings[clip])
            rows.append(builders["optimizer_steps"].append(*cells))
        calls = keys.backward_calls.rows(np.array([row[0] for row in self._losses], np.int64))
        for call, (_, loss) in zip(calls.tolist(), self._losses, strict=True):
            if call >= 0:
                builders["losses"].append(call, float_bits([loss])[0])
        tensors = keys.tensors.rows(np.array([row[1] for row in self._changes], np.int64))
        for tensor, (step, _, *rest) in zip(tensors.tolist(), self._changes, strict=True):
            if tensor >= 0:
                builders["parameter_steps"].append(rows[step], tensor, *rest)


def _looked(parameter: Any, step: int) -> list[_Look]:
    place = memory_of(parameter, MOST_VALUES)
    if place is None or parameter.stop_gradient:
        return []
    gradient = parameter.grad
    state = _NONE
    if gradient is not None:
        found = memory_of(gradient, MOST_VALUES)
        if found is None:  # sparse, or on a device
            return []
        state = _ZEROS if _are_zeros(*found) else _VALUES
    equal = _has_equal_units(parameter, place)
    return [(step, state, parameter, place, digest_at(*place), equal)]


def _place_after(parameter: Any, before: tuple[int, int, int]) -> tuple[int, int, int] | None:
    """Return the place of a parameter's values after a step. A step rarely moves them."""
    is_there = DOOR.is_initialized(parameter) and parameter.data_ptr() == before[0]
    is_same = is_there and min(math.prod(parameter.shape), MOST_VALUES) == before[1]
    return before if is_same else memory_of(parameter, MOST_VALUES)


def _are_zeros(address: int, elements: int, kind: int) -> bool:
    """Tell whether all values are almost zero. Usually the first few already are not."""
    some = min(elements, _FEW_VALUES)
    return not any(
        scan(address, count, kind, False)[6] > elements * _SMALLEST**2  # noqa: FBT003
        for count in (some, elements)
    )


def _some(parameters: list[Any]) -> list[Any]:
    """Return a few parameters, spread over all of them. Weights are preferred to biases."""
    if len(parameters) <= _MOST_PARAMETERS:
        return parameters
    weights = [one for one in parameters if len(one.shape) > 1] or parameters
    return weights[:: math.ceil(len(weights) / _MOST_PARAMETERS)]


def _has_equal_units(parameter: Any, place: tuple[int, int, int]) -> bool:
    """Tell whether all output units of a weight are equal, as far as its values were read."""
    shape, (address, elements, kind) = tuple(parameter.shape), place
    is_conv = len(shape) > 2
    width = math.prod(shape[1:])
    rows = elements // width if width else 0
    if len(shape) < 2 or rows < (2 if is_conv else 1) or KINDS[kind] == "bfloat16":
        return False
    memory = bytes_at(address, rows * width, kind)
    values = np.frombuffer(memoryview(memory), STORED[kind]).reshape(rows, width)
    if values[0, 0] != (values[-1, 0] if is_conv else values[0, -1]):
        return False
    return bool((values == (values[:1] if is_conv else values[:, :1])).all())
