"""Finds attributes that the user has set on an optimizer or layer and that nothing reads.

Paddle keeps the setting ``learning_rate`` as ``_learning_rate``. ``opt.learning_rate = 0.1`` makes
another attribute, and changes nothing. An attribute is lost if Paddle keeps another value of that
name, and no method of the class reads the attribute.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from functools import lru_cache
from inspect import unwrap
from types import CodeType, FrameType, FunctionType
from typing import Any

from paddle_lab.capture.stacks.stack_pool import Location

_SIMPLE = (bool, int, float)


def lost_settings(one: Any) -> Iterator[str]:
    """Yield the names of attributes that nothing reads, and whose value is not the one in use."""
    own = vars(one)
    for name in [*own]:
        value, used = own[name], own.get(f"_{name}")
        if name[0] == "_" or not isinstance(value, _SIMPLE) or name in _names_read(type(one)):
            continue
        if name in {"lr", "learning_rate"} and hasattr(one, "get_lr"):
            used = one.get_lr()  # Paddle keeps a number or a scheduler
        if isinstance(used, _SIMPLE) and used != value:
            yield name


@lru_cache(maxsize=256)
def _names_read(kind: type) -> frozenset[str]:
    """Return the names in the code of all methods of a class."""
    found: set[str] = set()
    for one in kind.__mro__:
        for member in vars(one).values():
            functions = (member, *(getattr(member, each, None) for each in ("fget", "__func__")))
            functions = (unwrap(each) for each in functions if isinstance(each, FunctionType))
            codes = [each.__code__ for each in functions]
            for code in codes:
                found.update(code.co_names)
                codes += [each for each in code.co_consts if isinstance(each, CodeType)]
    return frozenset(found)


def setting_place(frame: FrameType | None, name: str) -> list[Location]:
    """Return where code around a frame sets an attribute; nothing if it does so nowhere."""
    while frame is not None:
        functions = [one for one in frame.f_globals.values() if isinstance(one, FunctionType)]
        for code in (frame.f_code, *(one.__code__ for one in functions)):
            if name in code.co_names:
                for step in dis.get_instructions(code):
                    if step.opname == "STORE_ATTR" and step.argval == name:
                        return [(code, step.offset)]
        frame = frame.f_back
    return []
