"""The user's lines on a stack of frames, innermost first."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import islice
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
_RUNNER: Final = -1
_KINDS: Final[dict[str, int]] = {}
"""The kinds of the files seen so far. Finding them for each frame would cost more than all else."""
_RANK_PROGRAM: Final = os.path.join(OWN_FOLDER, "launching", "rank_program.py")
Line = tuple[str, int, str]
"""File, line and function."""


def user_stack(frame: FrameType | None) -> list[Line]:
    """Return the innermost user frames of a stack, up to the script's first frame."""
    frames = islice(_user_frames(frame), MOST_FRAMES)
    return [(each.f_code.co_filename, each.f_lineno, each.f_code.co_name) for each in frames]


def variable_of(frame: FrameType | None, value: object) -> str:
    """Return the name of an object in the innermost user frame, else ``""``."""
    user_frame = next(_user_frames(frame), None)
    if user_frame is None:
        return ""
    code = user_frame.f_code
    names = (*code.co_varnames, *code.co_names, *code.co_freevars, *code.co_cellvars)
    return next((name for name in names if frame_variable(user_frame, name, None) is value), "")


def _user_frames(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        file = frame.f_code.co_filename
        if file == _RANK_PROGRAM:
            return
        kind = _KINDS.get(file)
        if kind is None:
            kind = _KINDS[file] = _kind_of(file)
        if kind == _RUNNER:
            return
        if kind == USER:
            yield frame
        frame = frame.f_back


def _kind_of(file: str) -> int:
    if is_runner(file):
        return _RUNNER
    paddle_file = getattr(sys.modules.get("paddle"), "__file__", None) or os.sep
    folder = os.path.join(os.path.dirname(paddle_file), "")
    return PADDLE if is_own(file) else kind_of(file, folder)


def error_stack(error: BaseException | None) -> list[Line]:
    """Return the innermost user frames of the traceback of an error."""
    found: list[Line] = []
    traceback: Any = None if error is None else error.__traceback__
    while traceback is not None:
        line = user_stack(traceback.tb_frame)[:1]
        if line and line[0][0] == traceback.tb_frame.f_code.co_filename:
            found.insert(0, (line[0][0], traceback.tb_lineno, line[0][2]))
        traceback = traceback.tb_next
    return found[:MOST_FRAMES]


def is_in_loader(frame: FrameType | None) -> bool:
    """Tell whether the code is waiting inside Paddle's ``DataLoader``."""
    part = os.path.join("paddle", "io", "dataloader")
    while frame is not None:
        if part in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False
