"""Finds settings that the user's code gives to an optimizer as attributes that nothing reads.

Paddle keeps the setting ``learning_rate`` as ``_learning_rate``. ``opt.learning_rate = 0.1`` makes
another attribute, and changes nothing.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import FrameType, FunctionType
from typing import Any

from paddle_lab.capture.stacks.stack_pool import Location

_NUMBERS = (bool, int, float)


def lost_settings(optimizer: Any) -> Iterator[str]:
    """Yield the attributes of one of Paddle's optimizers that differ from the value in use."""
    own, kind = vars(optimizer), type(optimizer)
    is_read = kind.__name__ == "LBFGS" or not kind.__module__.startswith("paddle.optimizer")
    for name in () if is_read else [*own]:  # a class of the user's may read its attributes
        if name[0] != "_" and isinstance(own[name], _NUMBERS):
            is_rate = name in {"lr", "learning_rate"}  # Paddle keeps a number or a scheduler
            used = optimizer.get_lr() if is_rate else own.get(f"_{name}")
            if isinstance(used, _NUMBERS) and used != own[name]:
                yield name


def setting_place(frame: FrameType | None, name: str) -> list[Location]:
    """Return where code around a frame sets an attribute; nothing if it does so nowhere."""
    while frame is not None:
        functions = [one for one in [*frame.f_globals.values()] if isinstance(one, FunctionType)]
        for code in (frame.f_code, *(one.__code__ for one in functions)):
            for step in dis.get_instructions(code) if name in code.co_names else ():
                if step.opname == "STORE_ATTR" and step.argval == name:
                    return [(code, step.offset)]
        frame = frame.f_back
    return []
