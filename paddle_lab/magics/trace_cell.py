"""``%%paddle_trace``: run a cell and show its graph."""

from __future__ import annotations

from types import FrameType
from typing import TYPE_CHECKING, Any

from paddle_lab.magics.notebook_memory import NotebookMemory
from paddle_lab.magics.options import CellOptions
from paddle_lab.words import Text

if TYPE_CHECKING:
    from paddle_lab.magics.graphed_cell import GraphedCell

_OPTIONS = CellOptions(
    "%%paddle_trace",
    views=("forward", "backward", "ladder"),
    does=Text("magics.help.trace"),
    view_help=Text("magics.help.view_trace"),
)


class TraceCellMagic:
    """``%%paddle_trace`` in one IPython shell."""

    name = "paddle_trace"

    def __init__(self, shell: Any, memory: NotebookMemory) -> None:
        self._shell = shell
        self._memory = memory

    @_OPTIONS.explain
    def run(self, line: str, cell: str) -> Any:
        """Run a cell and show what it computed with PaddlePaddle: its graph, linked to its lines.

        The trace is also kept in the variable ``_trace``; if the cell raises, as far as it came.
        """
        # Reached only where the cell did not pass the transformation, as by run_cell_magic().
        self._shell.run_cell(f"%%paddle_trace {line}\n{cell}").raise_error()

    def begin(self, line: str, *, number: int, anchor: FrameType | None) -> GraphedCell:
        """Begin the trace of a cell."""
        options = _OPTIONS.parse(line)
        # Its imports are the capture's; %load_ext has the kernel do them while it waits.
        from paddle_lab.magics.graphed_cell import GraphedCell
        from paddle_lab.magics.traced_cell import TracedCell

        cell = TracedCell(self._shell, options, number=number, anchor=anchor)
        return GraphedCell(cell, self._memory)
