"""What rows with a place in the user's code tell of it."""

from __future__ import annotations

from paddle_lab.analysis.source.stacks import Frame


class Placed:
    """A row that a line of code stands behind: an op, a block of memory."""

    __slots__ = ()

    @property
    def frame(self) -> Frame | None:
        """The innermost frame of the user's own code, if any frame is known at all."""
        raise NotImplementedError

    @property
    def file(self) -> str:
        """File of that frame."""
        return self.frame.file if self.frame else ""

    @property
    def line(self) -> int:
        """Line of that frame, from 1; 0 where none is known."""
        return self.frame.line if self.frame else 0

    @property
    def function(self) -> str:
        """Function of that frame."""
        return self.frame.function if self.frame else ""

    @property
    def cell(self) -> int | None:
        """Execution count of the notebook cell of that frame, None for a file."""
        return self.frame.cell if self.frame else None

    @property
    def where(self) -> str:
        """That frame's place: ``"Cell 4, line 7"``; ``""`` where none is known."""
        return self.frame.where if self.frame else ""
