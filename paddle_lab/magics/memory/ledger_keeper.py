"""Adds an entry to the ledger for each cell that changed memory, with holders of the memory."""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from paddle_lab.ledger import Entry, PeakSource
from paddle_lab.magics.memory.live_chart import LiveChart
from paddle_lab.magics.memory.notebook_memory import NotebookMemory
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.api import Trace
    from paddle_lab.holders.living import LivingTensor
    from paddle_lab.magics.memory.notebook_memory import NotebookMemory


Readings = dict[str, dict[str, int]]


class LedgerKeeper:
    """Adds entries to the ledger. It reads Paddle's counters before and after each cell.

    Parameters
    ----------
    memory
        The notebook's counters and ledger.
    chart
        The live chart. If a cell did not raise Paddle's own peak, the cell's peak comes from the
        samples.
    """

    def __init__(self, memory: NotebookMemory, chart: LiveChart) -> None:
        self._memory = memory
        self._chart = chart
        self._before: Readings | None = None
        self._start_ns = 0

    def enter_cell(self, label: str) -> None:
        """Read the counters when a cell begins. In a notebook, the label looks like ``"[7]"``."""
        if self._chart.running is not None:
            self._chart.running.sampler.cell_started(label)
        self._before = self._memory.read()
        self._start_ns = perf_counter_ns()

    def leave_cell(self, number: Any) -> None:
        """Add an entry for the cell that has ended, unless a magic in the cell has added one."""
        if self._before is None:  # this cell loaded the extension
            return
        if self._chart.running is not None:
            self._chart.running.sampler.cell_ended()
        before, self._before = self._before, None
        ledger = self._memory.ledger
        has_entry = len(ledger) > 0 and ledger[-1].cell == number
        if isinstance(number, int) and not has_entry:
            entry = self._entry(number, before, self._memory.read())
            if entry is not None:
                ledger.append(entry)

    def _entry(self, number: int, readings_before: Readings, after: Readings) -> Entry | None:
        place = _main_place(after)
        if place is None:
            return None
        # If the cell itself imported Paddle, there are no earlier values, and nothing was
        # allocated.
        before, now = readings_before.get(place, {}), after[place]
        before_bytes, after_bytes = before.get("allocated", 0), now["allocated"]
        peak_bytes, source = self._peak(place, before, now)
        if peak_bytes <= before_bytes == after_bytes:
            return None
        return Entry(number, place, before_bytes, after_bytes, peak_bytes, source)

    def _peak(
        self, place: str, before: dict[str, int], now: dict[str, int]
    ) -> tuple[int, PeakSource]:
        peak = now.get("peak allocated", -1)
        if peak > before.get("peak allocated", 0):
            return peak, "counter"
        sampled = self._chart.sampled_peak_bytes(place, self._start_ns, perf_counter_ns())
        if sampled >= 0:
            return max(sampled, before.get("allocated", 0), now["allocated"]), "sampled"
        return -1, "unknown"


def _main_place(readings: Readings) -> str | None:
    """Return the device with the highest peak, or the CPU if no device was used."""
    known = [place for place, values in readings.items() if "allocated" in values]
    devices = [place for place in known if place != "cpu" and readings[place]["allocated"] > 0]
    return max(
        devices or known, key=lambda place: readings[place].get("peak allocated", 0), default=None
    )


# If more memory than this has no known holder, search all libraries, which takes half a second.
_LEAST_UNEXPLAINED_BYTES = 1024 * 1024


def find_holders(trace: Trace, memory: NotebookMemory) -> list[LivingTensor]:
    """Find the holders of memory that a cell did not free, and add them to the cell's trace."""
    from paddle_lab.holders.record import unexplained_bytes, with_holders

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
        # The search visits objects of the user. If it fails, the trace is still shown.
        said = say("notices.memory.holders_not_found", fault=type(fault).__name__)
        trace.record.origin.notices.append(said)
        return []
    return tensors


def ledger_entry(trace: Trace, number: int, tensors: list[LivingTensor]) -> Entry:
    """Return the ledger's entry for a cell whose memory was recorded.

    Parameters
    ----------
    trace
        The cell's trace.
    number
        The cell's execution count.
    tensors
        The result of :func:`find_holders`.
    """
    from paddle_lab.holders.record import held_by

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
