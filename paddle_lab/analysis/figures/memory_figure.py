"""The memory of a place over time, by kind, as a Bokeh figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.memory.timeline import timeline
from paddle_lab.trace.schema import ALLOCATION_KINDS
from paddle_lab.words import say

if TYPE_CHECKING:
    from bokeh.plotting import figure

    from paddle_lab.analysis.memory.place import PlaceMemory

_MOST_MOMENTS: Final = 2000
_COLOURS: Final = {
    "unseen": "#dfe3ea",
    "parameter": "#2a9d8f",
    "optimizer_state": "#7b5ea7",
    "buffer": "#8a6f4e",
    "input": "#c2a83e",
    "gradient": "#e08a2e",
    "saved_activation": "#3b78d8",
    "activation": "#9dc1ee",
    "temporary": "#97a1b3",
    "unknown": "#b8b8b8",
}
"""The colour of each kind, from the bottom of the stack: the longest-living kinds come first."""


def memory_figure(memory: PlaceMemory) -> figure:
    """Return a figure of the allocated bytes over time, stacked by kind.

    If memory changed more than 2,000 times, the changes are divided into 2,000 groups, and the
    figure shows the highest moment of each group. The peak keeps its time and its height.
    """
    from bokeh.models import (
        AdaptiveTicker,
        ColumnDataSource,
        DataRange1d,
        HoverTool,
        NumeralTickFormatter,
    )
    from bokeh.plotting import figure

    moments = _moments(memory)
    layers = _layers(memory, moments)
    data: dict[str, Any] = {"time_ms": moments / 1e6, "allocated": memory.timeline.at_each(moments)}
    top = np.zeros(len(moments), np.int64)
    for kind, size in layers.items():
        data[f"{kind}_from"], data[kind] = top, size
        top = data[f"{kind}_to"] = top + size
    source = ColumnDataSource(data)
    plot = figure(
        title=memory.one_line(),
        x_axis_label=say("memory.figure.time"),
        y_axis_label=say("memory.figure.size"),
        sizing_mode="stretch_width",
        height=360,
        tools="xpan,xwheel_zoom,box_zoom,reset,save",
    )
    for kind in layers:
        plot.varea_step(
            x="time_ms",
            y1=f"{kind}_from",
            y2=f"{kind}_to",
            step_mode="after",
            source=source,
            color=_COLOURS[kind],
            legend_label=_name(kind),
        )
    plot.step(
        x="time_ms",
        y="allocated",
        mode="after",
        source=source,
        color="#20242c",
        legend_label=say("memory.column.allocated"),
    )
    _add_reserved(plot, memory)
    tooltips = [(say("memory.figure.time"), "@time_ms{0,0.000}")]
    tooltips.append((say("memory.column.allocated"), "@allocated{0.[0]ib}"))
    tooltips += [(_name(kind), f"@{kind}{{0.[0]ib}}") for kind in reversed(layers)]
    # BokehJS's hover tool does not find step lines, but it finds this invisible line.
    line = plot.line(x="time_ms", y="allocated", source=source, alpha=0)
    plot.add_tools(HoverTool(renderers=[line], tooltips=tooltips, mode="vline", line_policy="prev"))
    plot.yaxis.ticker = AdaptiveTicker(
        base=1024, mantissas=[1 << power for power in range(10)], num_minor_ticks=0
    )
    plot.yaxis.formatter = NumeralTickFormatter(format="0.[0]ib")
    plot.y_range = DataRange1d(start=0)
    plot.add_layout(plot.legend[0], "right")
    return plot


def _moments(memory: PlaceMemory) -> npt.NDArray[np.int64]:
    """Return the moments that are drawn, in ns since the trace began."""
    times, total = memory.timeline.time_ns, memory.timeline.allocated_bytes
    if len(times) > _MOST_MOMENTS:
        stretch = np.arange(len(times)) * _MOST_MOMENTS // len(times)
        order = np.lexsort((-total, stretch))  # the highest moment of each stretch comes first
        times = times[order[np.unique(stretch, return_index=True)[1]]]
    moments: npt.NDArray[np.int64] = np.unique([0, memory.record.origin.duration_ns, *times])
    return moments


def _layers(
    memory: PlaceMemory, moments: npt.NDArray[np.int64]
) -> dict[str, npt.NDArray[np.int64]]:
    """Return the bytes of each kind at each moment. The first kind is drawn at the bottom."""
    keys = memory.allocations.keys
    kinds = memory.record.allocations["kind"][keys]
    layers = {"unseen": np.full(len(moments), memory.unseen_bytes)}
    for kind in list(_COLOURS)[1:]:
        own = keys[kinds == ALLOCATION_KINDS.index(kind)]
        layers[kind] = timeline(memory.record, own).at_each(moments)
    return {kind: size for kind, size in layers.items() if size.any()}


def _add_reserved(plot: figure, memory: PlaceMemory) -> None:
    """Draw the bytes that Paddle had reserved, at the times when Paddle's counter was read."""
    record, totals = memory.record, memory.record.memory_totals
    rows = totals["place"] == record.strings.index(memory.place)
    if not totals["reserved_bytes"][rows].any():
        return
    plot.step(
        x=totals["time_ns"][rows] / 1e6,
        y=totals["reserved_bytes"][rows],
        mode="after",
        color="#8a8f98",
        line_dash="dashed",
        legend_label=say("memory.figure.reserved"),
    )


def _name(kind: str) -> str:
    return say("memory.before_unused") if kind == "unseen" else say(f"page.memory_kind.{kind}")
