"""Restores the contents of containers, arrays and random generators."""

from __future__ import annotations

import contextlib
import random
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from functools import partial
from types import CellType
from typing import Any, Final

import numpy as np

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.rerun.reach import Reached

Restore = Callable[[], object]
"""A function that restores the contents of one object, in place."""

_ABSENT = object()
_OF_SOT: Final = ("paddle_set_eval_frame_fn", "$resume_")
"""Prefixes of the names that SOT adds to the globals of a function that it compiles."""


def restores(paddle: Any, reached: Reached) -> list[Restore]:
    """Return functions that restore the contents of all objects, but not the values of tensors."""
    return [
        *map(container_restore, reached.containers),
        *map(_restore_array, reached.arrays),
        *map(_restore_generator, reached.generators),
        *random_restores(paddle),
    ]


def random_restores(paddle: Any) -> list[Restore]:
    """Return functions that restore the state of Paddle's, NumPy's and Python's generators."""
    found: list[Restore] = [
        partial(random.setstate, random.getstate()),
        partial(np.random.set_state, np.random.get_state()),
        partial(paddle.set_rng_state, paddle.get_rng_state()),
    ]
    if DOOR.has("random_state"):
        generator = DOOR.default_cpu_generator()
        found.append(partial(generator.set_state, generator.get_state()))
        # A second run may create parameters. This would shift the names of later parameters, or use
        # a name twice. So restore Paddle's name generator and its set of used names, which
        # ``unique_name.guard`` replaces.
        found.append(container_restore(DOOR.now("name_generator")))
        found.append(container_restore(DOOR.now("parameter_names")))
    return found


def put_back(found: Iterable[Restore]) -> None:
    """Restore the contents of every object."""
    for restore in found:
        restore()


def container_restore(container: Any) -> Restore:
    """Return a function that restores the contents of one container."""
    if isinstance(container, CellType):
        return _restore_cell(container)
    if isinstance(container, type):
        return partial(_fill_class, container, dict(vars(container)))
    # A subclass of the user's may override methods such as copy(), so call the base class.
    if isinstance(container, list):
        return partial(list.__setitem__, container, slice(None), list(container))
    if isinstance(container, dict):
        kind: Any = OrderedDict if isinstance(container, OrderedDict) else dict
        return partial(_fill_dict, container, dict(container), kind)
    if isinstance(container, set):
        return partial(_fill, container, set(container), set.clear, set.update)
    if isinstance(container, deque):
        return partial(_fill, container, list(container), deque.clear, deque.extend)
    raise TypeError(type(container).__name__)


def _fill(container: Any, held: Any, clear: Any, extend: Any) -> None:
    clear(container)
    extend(container, held)


def _fill_dict(container: Any, held: dict[Any, Any], kind: Any) -> None:
    compiled = {
        name: value
        for name, value in kind.items(container)
        if name not in held and isinstance(name, str) and name.startswith(_OF_SOT)
    }
    _fill(container, {**held, **compiled}, kind.clear, kind.update)


def _restore_cell(cell: CellType) -> Restore:
    try:
        return partial(setattr, cell, "cell_contents", cell.cell_contents)
    except ValueError:  # the cell is empty
        return partial(delattr, cell, "cell_contents")


def _fill_class(kind: type, held: dict[str, Any]) -> None:
    present = vars(kind)
    for name in [name for name in present if name not in held]:
        delattr(kind, name)
    for name, value in held.items():
        if present.get(name, _ABSENT) is not value:
            with contextlib.suppress(AttributeError, TypeError):  # __dict__ and similar attributes
                setattr(kind, name, value)


def _restore_array(array: Any) -> Restore:
    is_plain = array.flags.writeable and not array.dtype.hasobject
    return partial(np.copyto, array, array.copy()) if is_plain else bool


def _restore_generator(generator: Any) -> Restore:
    if isinstance(generator, random.Random):
        return partial(generator.setstate, generator.getstate())
    if isinstance(generator, np.random.Generator):
        bits = generator.bit_generator
        return partial(setattr, bits, "state", bits.state)
    return partial(generator.set_state, generator.get_state())
