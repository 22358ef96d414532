"""The live chart of a notebook: its start, its end, and its marks for cells."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from IPython.display import display

from paddle_lab.magics.memory.notebook_memory import NotebookMemory
from paddle_lab.views.html.notebook_output import kernel_lacks
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.views.widgets.memory_widget import LiveMemory


class LiveChart:
    """The live chart of a notebook. At most one is running.

    Parameters
    ----------
    memory
        Frees memory when the user presses the chart's button.
    """

    def __init__(self, memory: NotebookMemory) -> None:
        self._memory = memory
        self._widget: LiveMemory | None = None

    @property
    def running(self) -> LiveMemory | None:
        """The chart that is sampling memory, None if there is none."""
        return self._widget if self._widget is not None and self._widget.is_running else None

    def show(self, *, height: int, cell: str) -> None:
        """Show the running chart, or start one.

        Parameters
        ----------
        height
            Height of a new chart, in pixels.
        cell
            The cell that shows the chart, such as ``"[7]"``.
        """
        if self.running is None:
            try:
                self._widget = self._begin(height)
            except ImportError as error:
                sys.stderr.write(f"{kernel_lacks(error)}\n")
                return
            except OSError as error:  # a checkout whose front end has not been built
                sys.stderr.write(say("magics.no_chart", error=error) + "\n")
                return
            self._widget.sampler.cell_started(cell)
        display(self._widget)

    def end(self, because: str) -> bool:
        """Stop the running chart. Return whether there was one."""
        was_on = self.running is not None
        if self._widget is not None:
            self._widget.stop(because)
        self._widget = None
        return was_on

    def sampled_peak_bytes(self, place: str, start_ns: int, end_ns: int) -> int:
        """Return the largest sampled value of a place's allocated memory in a time span, or -1."""
        if self.running is None:
            return -1
        sampler = self.running.sampler
        rows = sampler.window(start_ns, end_ns)
        for column, counter in enumerate(sampler.counters, start=1):
            if (counter.name, counter.device) == ("allocated", place) and column < rows.shape[1]:
                return int(rows[:, column].max(initial=-1))
        return -1

    def _begin(self, height: int) -> LiveMemory:
        from paddle_lab.capture.memory.counters import memory_sampler
        from paddle_lab.views.widgets.memory_widget import LiveMemory

        chart = LiveMemory(memory_sampler(), height=height, free=self._memory.release)
        chart.start()
        return chart
