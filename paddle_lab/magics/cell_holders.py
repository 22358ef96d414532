"""The holders of memory that a cell left allocated, and the cell's entry in the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_lab.holders.record import held_by, unexplained_bytes, with_holders
from paddle_lab.ledger import Entry
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.api import Trace
    from paddle_lab.holders.living import LivingTensor
    from paddle_lab.magics.notebook_memory import NotebookMemory

# Unexplained memory beyond this is worth a search through all libraries, half a second.
_LEAST_UNEXPLAINED_BYTES = 1024 * 1024


def find_holders(trace: Trace, memory: NotebookMemory) -> list[LivingTensor]:
    """Find the holders of memory that a cell left allocated, and add them to its trace."""
    try:
        living = memory.living()
        tensors = living.tensors()
        record = with_holders(trace.record, tensors, living.backward_graphs())
        if unexplained_bytes(record) > _LEAST_UNEXPLAINED_BYTES:
            memory.search_libraries(living)
            tensors = living.tensors()
            record = with_holders(trace.record, tensors, living.backward_graphs())
        trace.complete(record)
    except (Exception, KeyboardInterrupt) as fault:  # noqa: BLE001
        # The search meets any objects of the user; if it fails, the trace must remain.
        said = say("notices.memory.holders_not_found", fault=type(fault).__name__)
        trace.record.origin.notices.append(said)
        return []
    return tensors


def ledger_entry(trace: Trace, number: int, tensors: list[LivingTensor]) -> Entry:
    """Return the ledger's entry of a cell whose memory was recorded.

    Parameters
    ----------
    trace
        The cell's trace.
    number
        The cell's execution count.
    tensors
        What :func:`find_holders` found.
    """
    memory = trace.memory
    alive = memory.still_alive()
    return Entry(
        cell=number,
        place=memory.place,
        before_bytes=memory.start_bytes,
        after_bytes=memory.end_bytes,
        peak_bytes=max(memory.peak_bytes, memory.end_bytes),
        peak_source="partial" if memory.is_partial else "allocator",
        alive_bytes=-1 if memory.is_partial else alive.total_bytes,
        held_by=() if memory.is_partial else held_by(trace.record, alive.keys, tensors),
    )
