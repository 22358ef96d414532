"""Keeps the ledger: an entry a cell that changed memory, whatever magic it has."""

from __future__ import annotations

from time import perf_counter_ns
from typing import Any

from paddle_lab.ledger import Entry, PeakSource
from paddle_lab.magics.live_chart import LiveChart
from paddle_lab.magics.notebook_memory import NotebookMemory

Readings = dict[str, dict[str, int]]


class LedgerKeeper:
    """Reads Paddle's counters before and after each cell, which takes microseconds.

    Parameters
    ----------
    shell
        The shell whose cells are entered.
    memory
        The notebook's counters and ledger.
    chart
        What sampled the peak of a cell that did not raise Paddle's own.
    """

    def __init__(self, shell: Any, memory: NotebookMemory, chart: LiveChart) -> None:
        self._shell = shell
        self._memory = memory
        self._chart = chart
        self._depth = 0
        self._before: Readings = {}
        self._start_ns = 0

    def register(self) -> None:
        """Begin with the next cell."""
        self._shell.events.register("pre_run_cell", self._enter_cell)
        self._shell.events.register("post_run_cell", self._leave_cell)

    def unregister(self) -> None:
        """End."""
        self._shell.events.unregister("pre_run_cell", self._enter_cell)
        self._shell.events.unregister("post_run_cell", self._leave_cell)

    @property
    def cell_label(self) -> str:
        """The cell that runs or comes next, as notebooks write it: ``"[7]"``."""
        inputs: list[str] = self._shell.history_manager.input_hist_raw
        return f"[{len(inputs) - (1 if self._depth else 0)}]"

    def _enter_cell(self, _info: Any) -> None:
        if self._depth == 0:
            if self._chart.running is not None:
                self._chart.running.cell_started(self.cell_label)
            self._before = self._memory.read()
            self._start_ns = perf_counter_ns()
        self._depth += 1

    def _leave_cell(self, result: Any) -> None:
        if self._depth == 0:  # the cell that loaded the extension: nobody saw it begin
            return
        self._depth -= 1
        if self._depth:
            return
        if self._chart.running is not None:
            self._chart.running.cell_ended()
        number = getattr(result, "execution_count", None)
        ledger = self._memory.ledger
        has_entry = len(ledger) > 0 and ledger[-1].cell == number
        if isinstance(number, int) and not has_entry:
            entry = self._entry(number, self._memory.read())
            if entry is not None:
                ledger.add(entry)

    def _entry(self, number: int, after: Readings) -> Entry | None:
        place = _main_place(after)
        if place is None:
            return None
        # A cell that imports Paddle begins with nothing.
        before, now = self._before.get(place, {}), after[place]
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
    """Return the device on which most was ever allocated, the host where none was used."""
    known = [place for place, values in readings.items() if "allocated" in values]
    devices = [place for place in known if place != "cpu" and readings[place]["allocated"] > 0]
    return max(
        devices or known, key=lambda place: readings[place].get("peak allocated", 0), default=None
    )
