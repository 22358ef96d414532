"""The size of gradients, layer by layer, as a Bokeh figure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from paddle_lab.words import say

if TYPE_CHECKING:
    from bokeh.plotting import figure

    from paddle_lab.analysis.gradients.curve import GradientCurve

_COLOURS = {"flows_on": "#3b78d8", "parameters": "#e08a2e"}


def gradient_figure(curve: GradientCurve) -> figure:
    """Return a figure: the root mean square of gradients over depth, on a logarithmic axis.

    Gradients that are zero everywhere have no point.
    """
    from bokeh.models import BasicTicker, ColumnDataSource, HoverTool, Range1d
    from bokeh.plotting import figure

    names = [point.label for point in curve]
    data: dict[str, Any] = {"depth": list(range(len(names))), "layer": names}
    data["class"] = [point.layer_class for point in curve]
    for name, amounts in (
        ("flows_on", [point.flowing for point in curve]),
        ("parameters", [point.parameters for point in curve]),
    ):
        data[name] = [amount.rms if amount and amount.rms > 0 else math.nan for amount in amounts]
        data[f"{name}_norm"] = [amount.norm if amount else math.nan for amount in amounts]
    source = ColumnDataSource(data)
    plot = figure(
        title=say("reports.gradient_figure"),
        x_axis_label=say("reports.column.layer"),
        y_axis_label=say("reports.column.per_value"),
        x_range=Range1d(start=-0.5, end=len(names) - 0.5),
        y_axis_type="log",
        sizing_mode="stretch_width",
        height=360,
        tools="xpan,xwheel_zoom,box_zoom,reset,save",
    )
    for name, colour in _COLOURS.items():
        label = say(f"reports.column.{name}")
        options: dict[str, Any] = {"x": "depth", "y": name, "source": source, "color": colour}
        plot.line(**options, legend_label=label)
        points = plot.scatter(**options, size=6, legend_label=label)
        tooltips = [
            (say("reports.column.layer"), "@layer"),
            (say("reports.column.class"), "@class"),
            (label, f"@{{{name}_norm}}{{%.3g}}"),
            (say("reports.column.per_value"), f"@{name}{{%.3g}}"),
        ]
        formatters: dict[str, Any] = {f"@{{{name}_norm}}": "printf", f"@{name}": "printf"}
        plot.add_tools(HoverTool(renderers=[points], tooltips=tooltips, formatters=formatters))
    plot.xaxis.ticker = BasicTicker(min_interval=1)
    plot.xaxis.major_label_overrides = dict(enumerate(names))
    plot.xaxis.major_label_orientation = 0.8
    plot.add_layout(plot.legend[0], "right")
    return plot
