"""A cell with ``%%paddle_mem``, while it runs and at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from IPython.display import display

from paddle_lab.holders.record import held_by, unexplained_bytes, with_holders
from paddle_lab.holders.storages import releasable_bytes, storages
from paddle_lab.ledger import Entry
from paddle_lab.magics.error_note import show_error_note
from paddle_lab.magics.free_button import show_free_button
from paddle_lab.magics.notebook_memory import NotebookMemory
from paddle_lab.magics.out_of_memory import report_out_of_memory
from paddle_lab.magics.traced_cell import TracedCell
from paddle_lab.views.text.memory_report import LedgerLine
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.holders.living import LivingTensor

# Unexplained memory beyond this is worth a search through all libraries, half a second.
_LEAST_UNEXPLAINED_BYTES = 1024 * 1024


class MeasuredCell:
    """A cell whose allocations are being recorded.

    Parameters
    ----------
    cell
        The cell, being recorded with its memory.
    memory
        Knows what is alive, and keeps the ledger.
    """

    def __init__(self, cell: TracedCell, memory: NotebookMemory) -> None:
        self._cell = cell
        self._memory = memory

    def finish(self, error: BaseException | None) -> None:
        """End the recording, find who holds what is left, and show it."""
        cell = self._cell
        cell.end(error)
        try:
            tensors = self._find_holders()
        except (Exception, KeyboardInterrupt) as fault:  # noqa: BLE001
            # The search meets whatever objects the user has, and the trace is worth more.
            tensors = []
            said = say("notices.memory.holders_not_found", fault=type(fault).__name__)
            cell.trace.record.origin.notices.append(said)
        cell.keep()
        entry = self._enter(tensors)
        if not cell.options.quiet:
            show_error_note(cell.trace, error, has_page=self._memory.has_page)
            cell.show(cell.options.view)
            report_out_of_memory(cell.trace, error, self._memory)
            if entry is not None:
                self._show(entry, tensors)

    def _find_holders(self) -> list[LivingTensor]:
        """Ask who holds what the cell left behind, and write it into the trace."""
        trace, memory = self._cell.trace, self._memory
        living = memory.living()
        tensors = living.tensors()
        record = with_holders(trace.record, tensors, living.backward_graphs())
        if unexplained_bytes(record) > _LEAST_UNEXPLAINED_BYTES:
            memory.search_libraries(living)
            tensors = living.tensors()
            record = with_holders(trace.record, tensors, living.backward_graphs())
        trace.complete(record)
        return tensors

    def _enter(self, tensors: list[LivingTensor]) -> Entry | None:
        trace = self._cell.trace
        if not len(trace.record.memory_totals):
            return None
        memory = trace.memory
        alive = memory.still_alive()
        entry = Entry(
            cell=self._cell.number,
            place=memory.place,
            before_bytes=memory.start_bytes,
            after_bytes=memory.end_bytes,
            peak_bytes=max(memory.peak_bytes, memory.end_bytes),
            peak_source="partial" if memory.is_partial else "allocator",
            alive_bytes=-1 if memory.is_partial else alive.total_bytes,
            held_by=() if memory.is_partial else held_by(trace.record, alive.keys, tensors),
        )
        self._memory.ledger.add(entry)
        return entry

    def _show(self, entry: Entry, tensors: list[LivingTensor]) -> None:
        display(LedgerLine(entry, leak=self._cell.trace.memory.leak))
        show_free_button(self._memory, releasable_bytes(storages(tensors)))
