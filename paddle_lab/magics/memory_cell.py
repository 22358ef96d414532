"""``%%paddle_mem``: run a cell and show what it allocated, and who still holds it."""

from __future__ import annotations

from types import FrameType
from typing import TYPE_CHECKING, Any

from paddle_lab.magics.notebook_memory import NotebookMemory
from paddle_lab.magics.options import COMMANDS, CellOptions
from paddle_lab.words import Text

if TYPE_CHECKING:
    from paddle_lab.magics.measured_cell import MeasuredCell

_OPTIONS = CellOptions(
    "%%paddle_mem",
    views=("memory", "forward", "backward", "ladder"),
    does=Text("magics.help.memory"),
    view_help=Text("magics.help.view_memory"),
    commands=COMMANDS,
)


class MemoryCellMagic:
    """``%%paddle_mem`` in one IPython shell."""

    name = "paddle_mem"

    def __init__(self, shell: Any, memory: NotebookMemory) -> None:
        self._shell = shell
        self._memory = memory

    @_OPTIONS.explain
    def run(self, line: str, cell: str) -> Any:
        """Run a cell and show what it allocated with PaddlePaddle: when, by whom, and who holds it.

        The trace is also kept in the variable ``_trace``; if the cell raises, as far as it came.
        """
        # Reached only where the cell did not pass the transformation, as by run_cell_magic().
        self._shell.run_cell(f"%%paddle_mem {line}\n{cell}").raise_error()

    def begin(self, line: str, *, number: int, anchor: FrameType | None) -> MeasuredCell:
        """Begin the trace of a cell."""
        options = _OPTIONS.parse(line)
        # As of %%paddle_trace, imported while the kernel waits.
        from paddle_lab.magics.measured_cell import MeasuredCell
        from paddle_lab.magics.traced_cell import TracedCell

        cell = TracedCell(self._shell, options, number=number, anchor=anchor, memory=True)
        return MeasuredCell(cell, self._memory)
