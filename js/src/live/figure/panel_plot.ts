/** The plot of one panel: its axes, its lines, the gaps, and the pointer's line. */

import type { Plot } from "@bokeh/bokehjs/build/js/lib/models/plots/plot";
import type { Range1d } from "@bokeh/bokehjs/build/js/lib/models/ranges/range1d";
import type { ColumnDataSource } from "@bokeh/bokehjs/build/js/lib/models/sources/column_data_source";
import type { DatetimeTicker } from "@bokeh/bokehjs/build/js/lib/models/tickers/datetime_ticker";
import type { BokehModels } from "../../charts/bokeh_loader.ts";
import type { Theme } from "../../dom/theme.ts";
import { formatBytes } from "../../words/quantities.ts";
import type { Line, Panel } from "../counters/lines.ts";

/** Space for the labels of values. */
export const LEFT_PX = 64;
/** Space for the labels of times, below the last panel. */
export const AXIS_PX = 24;

interface PanelOptions {
  readonly theme: Theme;
  readonly panel: Panel;
  /**
   * The columns: `time`, `c0`, `c1` and so on for the counters, and `a0` and so on for their areas.
   */
  readonly samples: ColumnDataSource;
  /** The columns `left` and `right` of spans without samples. */
  readonly gaps: ColumnDataSource;
  readonly x_range: Range1d;
  readonly height_px: number;
  /** Whether the time axis is shown below the plot. */
  readonly has_axis: boolean;
}

/** The plot of a panel, and its parts that change with the data. */
export interface PanelPlot {
  readonly plot: Plot;
  readonly y_range: { end: number };
  readonly time_ticker: DatetimeTicker;
  /** The renderers of each counter's line. */
  readonly lines: readonly LineRenderers[];
  readonly pointer: { location: unknown; visible: boolean };
}

interface LineRenderers {
  readonly counter: number;
  readonly renderers: { visible: boolean }[];
}

export function panelPlot(models: BokehModels, options: PanelOptions): PanelPlot {
  const { theme, panel, gaps, x_range, height_px, has_axis } = options;
  const y_range = new models.Range1d({ start: 0, end: panel.unit === "percent" ? 105 : 1024 });
  const plot = new models.Plot({
    x_range,
    y_range,
    height: height_px,
    sizing_mode: "stretch_width",
    min_border: 0,
    min_border_left: LEFT_PX,
    min_border_right: 10,
    min_border_top: 8,
    min_border_bottom: has_axis ? AXIS_PX : 6,
    background_fill_color: null,
    border_fill_color: null,
    outline_line_color: null,
    toolbar_location: null,
  });
  const time_ticker = addAxes(models, plot, options);
  plot.add_glyph(
    new models.VStrip({
      x0: { field: "left" },
      x1: { field: "right" },
      fill_color: theme.chip,
      line_color: null,
      hatch_pattern: "/",
      hatch_color: theme.detach,
      hatch_alpha: 0.55,
      hatch_scale: 7,
    }),
    gaps,
  );
  // Filled lines are the most important ones, so draw them on top.
  const lines = [...panel.lines]
    .sort((one, other) => +one.is_filled - +other.is_filled)
    .map((line) => addLine(models, plot, line, options));
  const pointer = new models.Span({
    dimension: "height",
    location: 0,
    visible: false,
    line_color: theme.soft,
    line_width: 1,
  });
  plot.add_layout(pointer, "center");
  const drag = new models.PanTool({ dimensions: "width" });
  const wheel = new models.WheelZoomTool({ dimensions: "width", modifiers: { ctrl: true } });
  plot.add_tools(drag, wheel);
  plot.toolbar.active_drag = drag;
  plot.toolbar.active_scroll = wheel;
  return {
    plot,
    y_range: y_range as PanelPlot["y_range"],
    time_ticker,
    lines,
    pointer: pointer as PanelPlot["pointer"],
  };
}

/**
 * Adds axes: values on the left, times below. Returns the ticker, which sets how many times are
 * shown.
 */
function addAxes(
  models: BokehModels,
  plot: Plot,
  { theme, panel, height_px, has_axis }: PanelOptions,
): DatetimeTicker {
  const text = {
    major_label_text_color: theme.soft,
    major_label_text_font: theme.font,
    major_label_text_font_size: "11px",
    axis_line_color: theme.line,
    major_tick_line_color: theme.line,
    major_tick_in: 0,
    major_tick_out: 4,
    minor_tick_line_color: null,
  };
  const ticker =
    panel.unit === "bytes"
      ? byteTicks(models, height_px > 110 ? 4 : 2)
      : { ticker: new models.FixedTicker({ ticks: [0, 50, 100] }) };
  const values = new models.LinearAxis({ ...ticker, ...text });
  plot.add_layout(values, "left");
  plot.add_layout(
    new models.Grid({ axis: values, dimension: 1, grid_line_color: theme.line }),
    "center",
  );
  const time_ticker = new models.DatetimeTicker();
  const times = new models.DatetimeAxis({
    ...text,
    visible: has_axis,
    ticker: time_ticker,
    formatter: new models.DatetimeTickFormatter({
      milliseconds: "%H:%M:%S.%3N",
      seconds: "%H:%M:%S",
      minsec: "%H:%M:%S",
      minutes: "%H:%M",
      hourmin: "%H:%M",
      hours: "%H:%M",
      days: "%d %b",
    }),
  });
  plot.add_layout(times, "below");
  return time_ticker;
}

/** Adds the steps of a counter and, for a filled line, the area below them. */
function addLine(
  models: BokehModels,
  plot: Plot,
  { counter, colour, dash, is_filled }: Line,
  { theme, samples }: PanelOptions,
): LineRenderers {
  const x = { field: "time" };
  const renderers = [];
  if (is_filled) {
    const area = new models.VAreaStep({
      x,
      y1: { value: 0 },
      y2: { field: `a${counter}` },
      step_mode: "after",
      fill_color: theme[colour],
      fill_alpha: 0.16,
    });
    renderers.push(plot.add_glyph(area, samples));
  }
  const steps = new models.Step({
    x,
    y: { field: `c${counter}` },
    mode: "after",
    line_color: theme[colour],
    line_width: is_filled ? 1.8 : 1.5,
    line_dash: [...dash],
  });
  renderers.push(plot.add_glyph(steps, samples));
  return { counter, renderers };
}

/** A ticker and a formatter for an axis of bytes. */
function byteTicks(models: BokehModels, desired_num_ticks = 5) {
  // Bokeh's usual way to write a formatter compiles text, which pages may forbid.
  class ByteFormatter extends models.TickFormatter {
    static override __name__ = "ByteFormatter";
    override doFormat(ticks: string[] | number[]): string[] {
      return ticks.map((tick) => (Number(tick) < 0 ? "" : formatBytes(Math.round(Number(tick)))));
    }
  }
  const mantissas = Array.from({ length: 10 }, (_, power) => 2 ** power);
  return {
    ticker: new models.AdaptiveTicker({ base: 1024, mantissas, desired_num_ticks }),
    formatter: new ByteFormatter(),
  };
}
