"""What an object refers to.

Nothing here runs code of the searched objects: types are asked by ``type()``, since ``isinstance``
may ask an object for its ``__class__``, and attributes are read from dictionaries and slots.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from types import (
    AsyncGeneratorType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    MemberDescriptorType,
    ModuleType,
)
from typing import Any, Final

import numpy as np

from paddle_lab.holders.frames import Call, ended_locals, open_call

GENERATORS: Final = (GeneratorType, CoroutineType, AsyncGeneratorType)


def is_a(value: Any, kinds: type | tuple[type, ...]) -> bool:
    """Tell whether a value is of a type, without asking the value."""
    return issubclass(type(value), kinds)


def references(holder: Any) -> list[Any]:
    """Return the objects that ``holder`` refers to, without a function's or frame's globals."""
    return reader(type(holder))(holder)


def reader(kind: type) -> Callable[[Any], list[Any]]:
    """Return the function that returns what an object of a type refers to."""
    for base, read in _READERS:
        if issubclass(kind, base):
            return read
    if not has_references(kind):
        return _nothing
    return _with_attributes if _hides_attributes(kind) else gc.get_referents


def has_references(kind: type) -> bool:
    """Tell whether objects of a type can refer to others."""
    is_array = issubclass(kind, np.ndarray)
    return is_array or bool(kind.__flags__ & _HAS_COLLECTED_REFERENCES) or kind.__dictoffset__ != 0


def _nothing(_holder: Any) -> list[Any]:
    return []


def _list_items(holder: list[Any]) -> list[Any]:
    return list.__getitem__(holder, slice(None))  # the collector would begin at the end


def _function_references(function: FunctionType) -> list[Any]:
    cells = function.__closure__ or ()
    return [*cells, function.__defaults__, function.__kwdefaults__, *vars(function).values()]


def _frame_references(frame: FrameType) -> list[Any]:
    return list(ended_locals(frame).values())


def _call_references(call: Call) -> list[Any]:
    return list(call.variables.values())


def _generator_references(generator: Any) -> list[Any]:
    frame = suspended_frame(generator)
    call = None if frame is None else open_call(frame)
    snapshot = 0 if call is None else call.snapshot
    held_by_frame: list[Any] = []
    if call is not None and sys.version_info < (3, 11):
        # The generator refers to its frame, and only the frame to the variables.
        held_by_frame = list(call.variables.values())
    return [
        *held_by_frame,
        *(
            held
            for held in gc.get_referents(generator)
            if id(held) != snapshot and not is_a(held, FrameType)
        ),
    ]


def _with_attributes(holder: Any) -> list[Any]:
    attributes = object.__getattribute__(holder, "__dict__")
    return [*gc.get_referents(holder), *attributes.values()]


def _hides_attributes(kind: type) -> bool:
    """Tell whether the collector does not know objects' attributes: tensors', and parameters'."""
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
"""CPython's flag of types that the collector knows."""
_READERS: Final[Sequence[tuple[Any, Callable[[Any], list[Any]]]]] = (
    (list, _list_items),
    (FunctionType, _function_references),
    (FrameType, _frame_references),
    (Call, _call_references),
    (GENERATORS, _generator_references),
    # What lies behind a module is found from its own name.
    ((ModuleType, CodeType, MemberDescriptorType), _nothing),
    (np.ndarray, _array_references),
)


def suspended_frame(generator: Any) -> FrameType | None:
    """Return the frame of a generator or coroutine that waits; none of one that runs or is over."""
    for name in ("gi", "cr", "ag"):
        frame = getattr(generator, f"{name}_frame", None)
        if frame is not None:
            return None if getattr(generator, f"{name}_running") else frame
    return None
