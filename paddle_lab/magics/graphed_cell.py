"""A cell with ``%%paddle_trace``, while it runs and at its end."""

from __future__ import annotations

from paddle_lab.magics.error_note import show_error_note
from paddle_lab.magics.notebook_memory import NotebookMemory
from paddle_lab.magics.out_of_memory import report_out_of_memory
from paddle_lab.magics.traced_cell import TracedCell


class GraphedCell:
    """A cell that is being recorded, to show its graph.

    Parameters
    ----------
    cell
        The cell, being recorded.
    memory
        Knows what is alive when memory runs out.
    """

    def __init__(self, cell: TracedCell, memory: NotebookMemory) -> None:
        self._cell = cell
        self._memory = memory

    def finish(self, error: BaseException | None) -> None:
        """End the recording and show the graph."""
        cell = self._cell
        cell.end(error)
        cell.keep()
        if not cell.options.quiet:
            show_error_note(cell.trace, error, has_page=self._memory.has_page)
            cell.show(cell.options.view)
            report_out_of_memory(cell.trace, error, self._memory)
