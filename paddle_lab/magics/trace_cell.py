"""``%%paddle_trace``: run a cell and show its graph."""

from __future__ import annotations

from types import FrameType
from typing import Any

from paddle_lab.magics.error_note import show_error_note
from paddle_lab.magics.notebook_memory import NotebookMemory
from paddle_lab.magics.options import cell_options, parse
from paddle_lab.magics.out_of_memory import report_out_of_memory
from paddle_lab.magics.traced_cell import TracedCell

_VIEWS = ("forward", "backward", "ladder")


class TraceCellMagic:
    """``%%paddle_trace`` in one IPython shell."""

    name = "paddle_trace"

    def __init__(self, shell: Any, memory: NotebookMemory) -> None:
        self._shell = shell
        self._memory = memory

    @cell_options(
        "%paddle_trace",
        views=_VIEWS,
        view_help="The graph to show first: forward, backward, or both as a ladder.",
    )
    def run(self, line: str, cell: str) -> Any:
        """Run a cell and show what it computed with PaddlePaddle: its graph, linked to its lines.

        The trace is also kept in the variable ``_trace``; if the cell raises, as far as it came.
        """
        # Reached only where the cell did not pass the transformation, as by run_cell_magic().
        self._shell.run_cell(f"%%paddle_trace {line}\n{cell}").raise_error()

    def begin(self, line: str, *, number: int, anchor: FrameType | None) -> _GraphedCell:
        """Begin the trace of a cell."""
        options = parse(self.run, line, name="%%paddle_trace")
        cell = TracedCell(self._shell, options, number=number, anchor=anchor)
        return _GraphedCell(cell, self._memory)


class _GraphedCell:
    def __init__(self, cell: TracedCell, memory: NotebookMemory) -> None:
        self._cell = cell
        self._memory = memory

    def finish(self, error: BaseException | None) -> None:
        cell = self._cell
        cell.end(error)
        cell.keep()
        if not cell.options.quiet:
            show_error_note(cell.trace, error)
            cell.show(cell.options.view)
        report_out_of_memory(cell.trace, error, self._memory)
