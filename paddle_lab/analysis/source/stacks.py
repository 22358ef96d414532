"""Stacks and frames as objects."""

from __future__ import annotations

import ntpath
from functools import lru_cache

import numpy as np

from paddle_lab.analysis.source.statements import statement_at
from paddle_lab.analysis.tables import cells
from paddle_lab.analysis.tables.rows import RecordRow
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import FRAME_KINDS
from paddle_lab.trace.trees import Keys, nearest_marked, taken
from paddle_lab.words import say

USER, LIBRARY = FRAME_KINDS.index("user"), FRAME_KINDS.index("library")


def place(file: str, line: int, cell: int | None) -> str:
    """Return ``"Cell 4, line 7"`` or ``"model.py:31"``. A file has no cell, or the cell -1."""
    if cell is not None and cell >= 0:
        return say("reports.place", cell=cell, line=line)
    return f"{ntpath.basename(file)}:{line}"


class Frame(RecordRow):
    """A Python frame: a line in a function that was running."""

    __slots__ = ()
    _table_name = "frames"

    file = cells.text(
        doc="File name as Python knew it; for a cell, the kernel's name for its code."
    )
    function = cells.text(doc='Qualified name: ``"Net.forward"``, ``"<module>"``.')
    line = cells.number(doc="From 1.")
    kind = cells.choice(
        FRAME_KINDS, doc='Whose code it is: ``"user"``, ``"library"`` or ``"paddle"``.'
    )
    cell = cells.optional(doc="Execution count of the notebook cell, None for a file.")

    @property
    def text(self) -> str:
        """The source of the line, stripped; ``""`` if the trace does not contain it."""
        return self._whole_line().strip()

    @property
    def statement(self) -> str:
        """The statement of the line that ran, if Python reports the column.

        Otherwise, and before Python 3.11, it is the whole line: :attr:`text`.
        """
        line, column = self._whole_line(), self._cell("column")
        is_known = column >= 0 and (
            self._cell("end_line") > self.line or self._cell("end_column") > column
        )
        return statement_at(line, column) if is_known else line.strip()

    def _whole_line(self) -> str:
        return source_line(self._record, self._cell("file"), self._cell("cell"), self.line)

    @property
    def where(self) -> str:
        """``"Cell 4, line 7"`` or ``"model.py:31"``."""
        return self.where_of(self.line)

    def where_of(self, line: int) -> str:
        """Return the same text as :attr:`where` for another line of the cell or file."""
        return place(self.file, line, self.cell)

    def __repr__(self) -> str:
        return f"<Frame {self.where} in {self.function}>"


class Placed:
    """A row that one line of code caused: an op or a block of memory."""

    __slots__ = ()

    @property
    def frame(self) -> Frame | None:
        """The innermost frame of the user's code, otherwise of another library; None if unknown."""
        raise NotImplementedError

    @property
    def file(self) -> str:
        """The file of :attr:`frame`; ``""`` if unknown."""
        return self.frame.file if self.frame else ""

    @property
    def line(self) -> int:
        """The line number of :attr:`frame`, from 1; 0 if unknown."""
        return self.frame.line if self.frame else 0

    @property
    def function(self) -> str:
        """The function of :attr:`frame`; ``""`` if unknown."""
        return self.frame.function if self.frame else ""

    @property
    def cell(self) -> int | None:
        """The execution count of the notebook cell of :attr:`frame`, None for a file."""
        return self.frame.cell if self.frame else None

    @property
    def where(self) -> str:
        """The place of :attr:`frame`: ``"Cell 4, line 7"``; ``""`` if unknown."""
        return self.frame.where if self.frame else ""


def stack_of(record: Record, stack: int) -> list[Frame]:
    """Return a stack's frames, innermost first."""
    frame, caller = record.stacks["frame"], record.stacks["caller"]
    frames: list[Frame] = []
    while stack >= 0 and len(frames) < len(frame):
        if frame[stack] >= 0:
            frames.append(Frame(record, int(frame[stack])))
        stack = int(caller[stack])
    return frames


def stack_frames(record: Record) -> Keys:
    """Return the frame to show for each stack, int32, shape ``[stacks]``.

    It is the innermost frame of the user's code, otherwise of a library, otherwise of any code.
    Frames that only start a thread are skipped: the function of the thread is shown instead.
    """
    frame, caller = record.stacks["frame"], record.stacks["caller"]
    kind = taken(record.frames["kind"], frame)
    file = np.array(record.strings, object)[record.frames["file"]]
    starts = np.array([ntpath.basename(name) == "threading.py" for name in file], bool)
    is_start = (kind == LIBRARY) & np.append(starts, False)[frame]
    is_target = ~is_start & np.append(is_start, False)[caller]
    best = frame
    for wanted in (is_target, (kind == LIBRARY) & ~is_start, kind == USER):
        found = nearest_marked(caller, wanted)
        best = np.where(found >= 0, frame[found], best)
    return best.astype(np.int32)


def source_line(record: Record, file: int, cell: int, line: int) -> str:
    """Return one line of source from the record; ``""`` if the record does not have it."""
    sources = record.sources
    for row in range(len(sources)):
        if sources["file"][row] == file and sources["cell"][row] == cell:
            lines = _lines(record.text(int(sources["text"][row])))
            offset = line - int(sources["first_line"][row])
            if 0 <= offset < len(lines):
                return lines[offset]
    return ""


@lru_cache(maxsize=8)
def _lines(text: str) -> list[str]:
    # The result is cached, because callers often ask for several lines of a text.
    return text.splitlines()
