"""Stacks of a program's ops, which Paddle stores as lines of a traceback."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from paddle_lab.capture.stacks.frame_kinds import (
    LIBRARY,
    PADDLE,
    TRANSLATED,
    is_own,
    is_runner,
    kind_of,
)
from paddle_lab.capture.stacks.source_texts import Cells, NoCells, source_rows
from paddle_lab.programs.program import Source, Stack
from paddle_lab.trace.row_writer import Frame

_BUILDER: Final = "program_translator.py"
_WITH_MODELS: Final = ("vision", "text", "audio", "incubate")
LINE: Final = re.compile(r'^\s*File "(.*)", line (\d+)(?:, in (.*))?$')
"""A line of a traceback: file, line number and function."""


class Callstacks:
    """Converts lines of tracebacks into frames, and finds the source text around them.

    Parameters
    ----------
    cells
        Finds notebook cells by file name.
    of_model
        Whether stacks begin inside the model, instead of where the program was built.
    """

    def __init__(self, cells: Cells | None = None, *, of_model: bool = False) -> None:
        import paddle

        self._of_model = of_model
        self._cells: Cells = cells or NoCells()
        self._paddle_folder = os.path.join(os.path.dirname(os.path.abspath(paddle.__file__)), "")
        self._compiler = os.path.join(self._paddle_folder, "jit", "")
        self._frames: dict[str, Frame | None] = {}
        self._stacks: dict[tuple[str, ...], Stack] = {}

    def stack(self, lines: Sequence[str]) -> Stack:
        """Return the frames of a traceback, the innermost first.

        The callers of the cell or script are omitted. Paddle's compiler and this package, whose
        frames are between the user's call and the user's function, are also omitted.
        """
        key = tuple(lines[::2])
        if key not in self._stacks:
            frames: list[Frame] = []
            for line in key:
                if self._of_model and _BUILDER in line:
                    frames.clear()
                if line not in self._frames:
                    self._frames[line] = self._frame(line)
                frame = self._frames[line]
                if frame is not None and is_runner(frame.file):
                    frames.clear()
                elif frame is not None:
                    frames.append(frame)
            self._stacks[key] = tuple(reversed(self._with_model(frames)))
        return self._stacks[key]

    def _with_model(self, frames: list[Frame]) -> list[Frame]:
        """For a model of Paddle's, use the line in the model, not a line inside an API."""
        if not self._of_model or not frames or any(frame.kind != PADDLE for frame in frames):
            return frames
        own = [at for at, frame in enumerate(frames) if not self._is_api(frame.file)]
        at = own[-1] if own else 0
        return [*frames[:at], frames[at]._replace(kind=LIBRARY), *frames[at + 1 :]]

    def _is_api(self, file: str) -> bool:
        folder = file.removeprefix(self._paddle_folder).replace("\\", "/").partition("/")[0]
        return folder not in _WITH_MODELS

    def _frame(self, line: str) -> Frame | None:
        found = LINE.match(line)
        if found is None or is_own(found[1]) or TRANSLATED in found[1]:
            return None
        if found[1].startswith(self._compiler):
            return None
        kind = kind_of(found[1], self._paddle_folder)
        return Frame(found[1], int(found[2]), found[3] or "", kind, self._cells.number(found[1]))

    def sources(self) -> list[Source]:
        """Return the text around the lines of all frames that are not Paddle's."""
        used: dict[str, list[int]] = {}
        for frame in {frame for stack in self._stacks.values() for frame in stack}:
            if frame.kind != PADDLE:
                used.setdefault(frame.file, []).append(frame.line)
        return [
            Source(*row)
            for file, lines in sorted(used.items())
            for row in source_rows(file, np.array(lines), self._cells, self._paddle_folder)
        ]
