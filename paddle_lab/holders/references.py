"""The objects to which an object refers.

This runs no code of the searched objects. Types come from ``type()``, because ``isinstance`` may
read ``__class__``, and attributes come from dictionaries and slots.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from types import CodeType, FrameType, FunctionType, MemberDescriptorType, ModuleType
from typing import Any, Final

import numpy as np

from paddle_lab.holders.frames import CALLS, GENERATORS, call_of


def is_a(value: Any, kinds: type | tuple[type, ...]) -> bool:
    """Tell whether a value has a type, without running code of the value."""
    return issubclass(type(value), kinds)


def references(holder: Any) -> list[Any]:
    """Return the objects to which ``holder`` refers, without globals of functions and frames."""
    return reader(type(holder))(holder)


def reader(kind: type) -> Callable[[Any], list[Any]]:
    """Return a function that returns the references of objects of this type."""
    for base, read in _READERS:
        if issubclass(kind, base):
            return read
    if not has_references(kind):
        return _nothing
    return _with_attributes if _hides_attributes(kind) else gc.get_referents


def has_references(kind: type) -> bool:
    """Tell whether objects of a type can refer to other objects."""
    is_array = issubclass(kind, np.ndarray)
    return is_array or bool(kind.__flags__ & _HAS_COLLECTED_REFERENCES) or kind.__dictoffset__ != 0


def _nothing(_holder: Any) -> list[Any]:
    return []


def _list_items(holder: list[Any]) -> list[Any]:
    return list.__getitem__(holder, slice(None))  # the collector would reverse the order


def _function_references(function: FunctionType) -> list[Any]:
    cells = function.__closure__ or ()
    return [*cells, function.__defaults__, function.__kwdefaults__, *vars(function).values()]


def _call_references(holder: Any) -> list[Any]:
    return list(call_of(holder).variables.values())


def _generator_references(generator: Any) -> list[Any]:
    call = call_of(generator)
    # A generator may refer only to its frame, and then only the frame refers to the variables.
    held = [*call.variables.values(), *gc.get_referents(generator)]
    return [one for one in held if id(one) != call.snapshot and not is_a(one, FrameType)]


def _with_attributes(holder: Any) -> list[Any]:
    attributes = object.__getattribute__(holder, "__dict__")
    return [*gc.get_referents(holder), *attributes.values()]


def _hides_attributes(kind: type) -> bool:
    """Tell whether the garbage collector does not see the attributes of such objects (tensors)."""
    return any(
        base.__dictoffset__ != 0 and not base.__flags__ & _HAS_COLLECTED_REFERENCES
        for base in kind.__mro__
    )


def _array_references(array: Any) -> list[Any]:
    base = np.ndarray.base.__get__(array)
    held = gc.get_referents(array)
    if base is not None:
        return [*held, base]
    is_of_objects = np.ndarray.dtype.__get__(array).kind == "O"
    return held + np.ndarray.ravel(array).tolist() if is_of_objects else held


_HAS_COLLECTED_REFERENCES: Final = 1 << 14
"""CPython's flag of types whose objects the collector tracks."""
_READERS: Final[Sequence[tuple[Any, Callable[[Any], list[Any]]]]] = (
    (list, _list_items),
    (FunctionType, _function_references),
    (GENERATORS, _generator_references),
    (CALLS, _call_references),
    # Objects of a module are found under the module's name instead.
    ((ModuleType, CodeType, MemberDescriptorType), _nothing),
    (np.ndarray, _array_references),
)
