"""A line of the user's code, as findings name it."""

from __future__ import annotations

from dataclasses import dataclass, field

from paddle_lab.analysis.source.stacks import Frame
from paddle_lab.words import say

_LONGEST_CODE = 100


@dataclass(frozen=True)
class Place:
    """One line of a file or of a notebook cell."""

    file: str = ""
    line: int = 0
    """From 1; 0 if the line is unknown."""
    cell: int | None = None
    """Execution count of the notebook cell, None for a file."""
    code: str = field(default="", compare=False)
    """The statement of the line that ran, ``""`` if the trace does not contain it."""
    where: str = ""
    """``"Cell 4, line 8"`` or ``"model.py:31"``."""

    @classmethod
    def of(cls, frame: Frame | None) -> Place:
        """Return the place of a frame; the empty place for none."""
        if frame is None:
            return cls()
        return cls(frame.file, frame.line, frame.cell, frame.statement, frame.where)

    def __str__(self) -> str:
        """Return the line as a sentence names it: ```h[1:2] = 3.3` (cell 4, line 8)``."""
        if not self.where:
            return say("findings.place.unknown")
        where = self.where
        if self.cell is not None:
            where = say("findings.place.cell", cell=self.cell, line=self.line)
        code = self.code.partition("  #")[0].rstrip()
        if not code:
            return where
        if len(code) > _LONGEST_CODE:
            code = f"{code[: _LONGEST_CODE - 1]}…"
        return say("findings.place.code", code=code, where=where)
