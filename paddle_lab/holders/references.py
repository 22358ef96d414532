"""What an object refers to.

Nothing here runs code of the searched objects: types are asked by ``type()``, since ``isinstance``
may ask an object for its ``__class__``, and attributes are read from dictionaries and slots.
"""

from __future__ import annotations

import gc
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

GENERATORS: Final = (GeneratorType, CoroutineType, AsyncGeneratorType)


def is_a(value: Any, kinds: type | tuple[type, ...]) -> bool:
    """Tell whether a value is of a type, without asking the value."""
    return issubclass(type(value), kinds)


def references(holder: Any) -> list[Any]:
    """Return the objects that ``holder`` refers to, without a function's or frame's globals."""
    if type(holder) is list:
        return holder[:]  # the collector would begin at the end
    if is_a(holder, FunctionType):
        cells = holder.__closure__ or ()
        return [*cells, holder.__defaults__, holder.__kwdefaults__, *vars(holder).values()]
    if is_a(holder, FrameType):
        return list(ended_locals(holder).values())
    # What lies behind a module is found from its own name.
    if is_a(holder, (ModuleType, CodeType, MemberDescriptorType)):
        return []
    referents = gc.get_referents(holder)
    if is_a(holder, GENERATORS):
        return [referent for referent in referents if not is_a(referent, FrameType)]
    return referents


def ended_locals(frame: FrameType) -> dict[str, Any]:
    """Return the variables of a call that has ended; of others none.

    Before Python 3.13, ``f_locals`` of a call that goes on is a copy that keeps all it shows alive
    until the call ends. The collector sees nothing in such a frame, which tells them apart.
    """
    if not gc.get_referents(frame) or frame.f_locals is frame.f_globals:
        return {}
    return dict(frame.f_locals)
