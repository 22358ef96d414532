"""``trace.memory``: the use of memory, advice, and a figure."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from paddle_lab.analysis.memory.advice.advice import advice, leak_advice
from paddle_lab.analysis.memory.advice.out_of_memory import OutOfMemory, out_of_memory
from paddle_lab.analysis.memory.place import PlaceMemory

if TYPE_CHECKING:
    from bokeh.plotting import figure


class Memory(PlaceMemory):
    """The memory that Paddle allocated on one place during a trace, with advice.

    A moment is a number of ns since the trace began, as in ``op.start_ns``. If a method's moment is
    optional, it defaults to the moment of the peak.
    """

    def figure(self) -> figure:
        """Return a Bokeh figure of the timeline, stacked by kind, for a report or a dashboard.

        Returns
        -------
        bokeh.plotting.figure
            You can change it, and pass it to ``bokeh.io.show`` or ``bokeh.io.save``.
        """
        from paddle_lab.analysis.figures.memory_figure import memory_figure

        return memory_figure(self)

    def advice(self, time_ns: int | None = None) -> list[str]:
        """Return advice on how to lower the memory at a moment, the most promising first."""
        return advice(self, time_ns=self.peak_ns if time_ns is None else time_ns)

    @property
    def leak(self) -> str:
        """A sentence about memory that grows from step to step; ``""`` if it grows little."""
        found = leak_advice(self, total_bytes=self.peak_bytes)
        return found[1] if found else ""

    @cached_property
    def out_of_memory(self) -> OutOfMemory | None:
        """The facts about Paddle's out-of-memory error; None if there was no such error."""
        return out_of_memory(self)
