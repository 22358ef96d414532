"""The user's lines on a stack of frames, innermost first."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from traceback import walk_tb
from types import FrameType
from typing import Any, Final

from paddle_lab.capture.stacks.frame_kinds import (
    OWN_FOLDER,
    PADDLE,
    USER,
    is_own,
    is_runner,
    kind_of,
)
from paddle_lab.capture.turns.variables import frame_variable

MOST_FRAMES: Final = 8
_MOST_ITEMS: Final = 16
_RUNNER: Final = -1
_KINDS: Final[dict[str, int]] = {}
"""The kind of each file seen so far, because finding the kind of a file takes long."""
_RANK_PROGRAM: Final = os.path.join(OWN_FOLDER, "launching", "rank_program.py")
Line = tuple[str, int, str]
"""File, line and function."""


def user_stack(frame: FrameType | None) -> tuple[Line, ...]:
    """Return the innermost user frames of a stack, up to the script's first frame."""
    return lines_of(user_frames(frame))


def lines_of(frames: list[FrameType]) -> tuple[Line, ...]:
    """Return the line that each frame is running."""
    return tuple([(one.f_code.co_filename, one.f_lineno, one.f_code.co_name) for one in frames])


def user_frames(frame: FrameType | None) -> list[FrameType]:
    """Return the innermost frames of user code in a stack."""
    found: list[FrameType] = []
    while frame is not None and len(found) < MOST_FRAMES:
        file = frame.f_code.co_filename
        if file == _RANK_PROGRAM:
            break
        kind = _KINDS.get(file)
        if kind is None:
            kind = _KINDS[file] = _kind_of(file)
        if kind == _RUNNER:
            break
        if kind == USER:
            found.append(frame)
        frame = frame.f_back
    return found


def variable_of(frame: FrameType, value: object) -> str:
    """Return the name of an object in a frame, such as ``x`` or ``inputs[0]``, else ``""``."""
    containers = []
    for name, held in variables_of(frame):
        if held is value:
            return name
        if isinstance(held, (dict, list, tuple)) and len(held) <= _MOST_ITEMS:
            containers.append((name, held))
    for name, container in containers:
        items = container.items() if isinstance(container, dict) else enumerate(container)
        for key, item in items:
            if item is value and isinstance(key, (str, int)):
                return f"{name}[{key!r}]"
    return ""


def variables_of(frame: FrameType) -> Iterator[tuple[str, Any]]:
    """Yield the name and the value of each variable that a frame's code uses."""
    code = frame.f_code
    for name in (*code.co_varnames, *code.co_names, *code.co_freevars, *code.co_cellvars):
        yield name, frame_variable(frame, name, None)


def _kind_of(file: str) -> int:
    if is_runner(file):
        return _RUNNER
    paddle_file = getattr(sys.modules.get("paddle"), "__file__", None) or os.sep
    folder = os.path.join(os.path.dirname(paddle_file), "")
    return PADDLE if is_own(file) else kind_of(file, folder)


def error_stack(error: BaseException | None) -> tuple[Line, ...]:
    """Return the innermost lines of user code in the traceback of an error."""
    found: list[Line] = []
    for frame, number in walk_tb(error.__traceback__ if error else None):
        line = user_stack(frame)[:1]
        if line and line[0][0] == frame.f_code.co_filename:
            found.insert(0, (line[0][0], number, line[0][2]))
    return tuple(found[:MOST_FRAMES])


def is_in_loader(frame: FrameType | None) -> bool:
    """Tell whether a frame is inside Paddle's ``DataLoader``."""
    part = os.path.join("paddle", "io", "dataloader")
    while frame is not None:
        if part in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False
