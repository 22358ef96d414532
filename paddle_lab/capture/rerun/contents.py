"""What containers and generators hold, so that it can be put back."""

from __future__ import annotations

import contextlib
import random
from collections import OrderedDict, deque
from types import CellType
from typing import Any

import numpy as np

from paddle_lab.capture.rerun.reach import Reached

_UNBOUND = object()


class Contents:
    """What everything but tensors held in one moment.

    Parameters
    ----------
    reached
        Whose contents; the objects themselves stay the same ones.
    """

    def __init__(self, reached: Reached) -> None:
        self._containers = [(one, _copied(one)) for one in reached.containers]
        self._arrays = [
            (array, array.copy()) for array in reached.arrays if not array.dtype.hasobject
        ]
        self._generators = [(one, _state_of(one)) for one in reached.generators]

    def put_back(self) -> None:
        """Restore the contents of every object."""
        for container, held in self._containers:
            _fill(container, held)
        for array, values in self._arrays:
            if array.flags.writeable:
                array[...] = values
        for generator, state in self._generators:
            _set_state(generator, state)


def _copied(container: Any) -> Any:
    if isinstance(container, CellType):
        try:
            return container.cell_contents
        except ValueError:
            return _UNBOUND
    if isinstance(container, type):
        return dict(vars(container))
    # The user's subclass may have a copy() of its own.
    for kind in (dict, list, set, deque):
        if isinstance(container, kind):
            return list(container) if kind is deque else kind(container)
    raise TypeError(type(container).__name__)


def _fill(container: Any, held: Any) -> None:
    if isinstance(container, CellType):
        if held is _UNBOUND:
            del container.cell_contents
        else:
            container.cell_contents = held
    elif isinstance(container, type):
        _fill_class(container, held)
    elif isinstance(container, dict):
        kind = OrderedDict if isinstance(container, OrderedDict) else dict
        kind.clear(container)
        kind.update(container, held)
    elif isinstance(container, list):
        list.__setitem__(container, slice(None), held)
    else:
        kind_of_set: Any = set if isinstance(container, set) else deque
        kind_of_set.clear(container)
        (set.update if isinstance(container, set) else deque.extend)(container, held)


def _fill_class(kind: type, held: dict[str, Any]) -> None:
    present = vars(kind)
    for name in [name for name in present if name not in held]:
        delattr(kind, name)
    for name, value in held.items():
        if present.get(name, _UNBOUND) is not value:
            with contextlib.suppress(AttributeError, TypeError):  # __dict__ and its like
                setattr(kind, name, value)


def _state_of(generator: Any) -> Any:
    if isinstance(generator, random.Random):
        return generator.getstate()
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    return generator.get_state()


def _set_state(generator: Any, state: Any) -> None:
    if isinstance(generator, random.Random):
        generator.setstate(state)
    elif isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
    else:
        generator.set_state(state)
