"""The variables of a loop in a running frame, and whether they still have the same objects."""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import Any, Final
from weakref import ref

from paddle_lab.capture.native import NATIVE, native_twin
from paddle_lab.capture.turns.loops import Loop

MISSING: Final = object()
_CO_OPTIMIZED: Final = 0x1
_CAN_READ_LOCALS: Final = sys.version_info >= (3, 13)
_HELD_TYPES: Final = (int, float, str)
_TOLD_TYPES: Final = (*_HELD_TYPES, bool)

Identity = tuple[int, Any]
"""Identifies a variable's object without holding it, which would keep it alive.

An identity is the address, and something that distinguishes the object from a later object at this
address: a weak reference to the object or to its first item, or the number or text itself; None if
there is nothing.
"""


def identity(value: Any) -> Identity:
    """Return the identity of a variable's value."""
    item = _first_item(value)
    if type(item) in _HELD_TYPES:
        return id(value), item
    try:
        return id(value), ref(item)
    except TypeError:
        return id(value), None


def _is_of(seen: Identity, value: Any) -> bool:
    """Return whether a variable still has the object with this identity."""
    address, witness = seen
    if address != id(value):
        return False
    item = witness() if isinstance(witness, ref) else witness
    return witness is None or item is _first_item(value)


def _first_item(value: Any) -> Any:
    """Return the first item of a list or tuple; return any other value itself."""
    return value[0] if type(value) in (list, tuple) and value else value


def are_same(seen: list[Identity], now: list[Any]) -> bool:
    """Return whether variables still have the objects with these identities."""
    return len(seen) == len(now) and all(map(_is_of, seen, now))


def variables_of(frame: FrameType, loop: Loop) -> list[Any]:
    """Return the values of variables that differ between iterations; empty if unknown."""
    values = [variable(frame, name) for name in loop.names]
    if loop.stepped_after != -1 and type(values[0]) is not int:
        return []  # the body changes the variable, so only a counter identifies iterations
    # Callers compare identities, because comparing arrays or tensors may raise.
    return values if values and values[0] is not MISSING else []


@native_twin
def frame_variable(frame: FrameType, name: str, default: Any) -> Any:
    """Return a variable of a frame, or a default if it has none.

    Before Python 3.13 the variables of a function can only be read all together, which keeps them
    alive. So the default is returned there. (The native code can read single variables.)
    """
    is_function = frame.f_code.co_flags & _CO_OPTIMIZED
    if is_function and not _CAN_READ_LOCALS:
        return default
    variables = frame.f_locals
    # Other types of dict, which exec() allows, would run code of their own.
    return variables.get(name, default) if is_function or type(variables) is dict else default


def can_read_variables(code: CodeType) -> bool:
    """Return whether the variables of frames of a code object can be read."""
    return NATIVE is not None or _CAN_READ_LOCALS or not code.co_flags & _CO_OPTIMIZED


def variable(frame: FrameType, name: str) -> Any:
    """Return a variable of a frame, or :data:`MISSING`."""
    return frame_variable(frame, name, MISSING)


def shown_value(frame: FrameType, loop: Loop) -> Any:
    """Return the value of the loop's variable if it is a number or text, otherwise None.

    If the loop has several variables, return a tuple of their values, None for each other value.
    """
    values = [variable(frame, name) for name in loop.shown]
    told = tuple(value if type(value) in _TOLD_TYPES else None for value in values)
    if not any(value is not None for value in told):
        return None
    return told if len(told) > 1 else told[0]
