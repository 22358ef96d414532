/** The figure: one plot a panel above a common time axis, and a strip of what ran. */
import type { Plot } from "@bokeh/bokehjs/build/js/lib/models/plots/plot";
import type { ColumnDataSource } from "@bokeh/bokehjs/build/js/lib/models/sources/column_data_source";
import type { DatetimeTicker } from "@bokeh/bokehjs/build/js/lib/models/tickers/datetime_ticker";
import { type BokehNamespace, bokehModels } from "../charts/bokeh_loader.ts";
import { byteTicks } from "../charts/byte_axis.ts";
import { type MountedFigure, mountFigure } from "../charts/mount_figure.ts";
import type { Theme } from "../views/theme.ts";
import type { Panel } from "./lines.ts";
import type { Series } from "./samples.ts";
import { type StripRow, stripData, stripPlot } from "./strip.ts";

const LEFT_PX = 64;
/** "14:03:12" and room beside it. */
const TIME_LABEL_PX = 96;
const AXIS_PX = 24;
export const STRIP_PX = 40;

export interface FigureOptions {
  readonly theme: Theme;
  readonly panels: readonly Panel[];
  readonly height_px: number;
  /** The user moved the time axis. */
  readonly onMove: (start_ms: number, end_ms: number) => void;
}

/** What is drawn: times are local wall-clock ms, as Bokeh's time axis shows them. */
export interface Picture {
  readonly start_ms: number;
  readonly end_ms: number;
  /** What to add to the series' times. */
  readonly offset_ms: number;
  readonly series: Series;
  readonly cells: StripRow;
  readonly layers: StripRow;
  /** Counters whose lines are switched off. */
  readonly hidden: ReadonlySet<number>;
}

/** Make the figure in `element`. */
export async function makeFigure(
  bokeh: BokehNamespace,
  element: HTMLElement,
  options: FigureOptions,
): Promise<Figure> {
  const figure = new Figure(bokeh, options);
  await figure.mount(bokeh, element);
  return figure;
}

export class Figure {
  readonly #theme: Theme;
  readonly #panels: readonly Panel[];
  readonly #source: ColumnDataSource;
  readonly #gaps: ColumnDataSource;
  readonly #strip: ColumnDataSource;
  readonly #plots: Plot[] = [];
  readonly #x_range;
  readonly #y_ranges: { start: number; end: number }[] = [];
  readonly #lines: { counter: number; renderers: { visible: boolean }[] }[] = [];
  readonly #time_tickers: DatetimeTicker[] = [];
  readonly #pointer: { location: unknown; visible: boolean }[] = [];
  readonly #layout;
  #mounted: MountedFigure | undefined;
  #is_ours = false;

  constructor(bokeh: BokehNamespace, { theme, panels, height_px, onMove }: FigureOptions) {
    this.#theme = theme;
    this.#panels = panels;
    const models = bokehModels(bokeh);
    this.#source = new models.ColumnDataSource({ data: emptyColumns(panels) });
    this.#gaps = new models.ColumnDataSource({ data: { left: [], right: [] } });
    this.#strip = new models.ColumnDataSource({ data: stripData([], [], 1, 0, theme) });
    this.#x_range = new models.Range1d({ start: 0, end: 1 });
    const strip = stripPlot(models, {
      theme,
      source: this.#strip,
      x_range: this.#x_range,
      left_px: LEFT_PX,
      height_px: STRIP_PX,
    });
    this.#plots.push(strip);
    const heights = panelHeights(panels, height_px - STRIP_PX - AXIS_PX);
    for (const [index, panel] of panels.entries()) {
      const is_last = index === panels.length - 1;
      const height = heights[index]! + (is_last ? AXIS_PX : 0);
      this.#plots.push(this.#panelPlot(models, panel, height, is_last));
    }
    this.#layout = new models.Column({
      children: this.#plots,
      sizing_mode: "stretch_width",
      spacing: 0,
    });
    this.#x_range.connect(this.#x_range.change, () => {
      if (!this.#is_ours) onMove(Number(this.#x_range.start), Number(this.#x_range.end));
    });
  }

  async mount(bokeh: BokehNamespace, element: HTMLElement): Promise<void> {
    this.#mounted = await mountFigure(bokeh, this.#layout, element);
  }

  dispose(): void {
    this.#mounted?.dispose();
  }

  draw({ start_ms, end_ms, offset_ms, series, cells, layers, hidden }: Picture): void {
    this.#is_ours = true;
    try {
      this.#x_range.setv({ start: start_ms, end: end_ms });
      const data: Record<string, number[]> = {
        time: series.times_ms.map((time) => time + offset_ms),
      };
      for (const [index, { lines }] of this.#panels.entries()) {
        let largest = 0;
        for (const { counter, is_filled } of lines) {
          const values = series.values[counter] ?? [];
          data[`c${counter}`] = values;
          // An area has no breaks: in a gap it falls to nothing.
          if (is_filled) data[`a${counter}`] = values.map((value) => value || 0);
          if (hidden.has(counter)) continue;
          for (const value of values) if (value > largest) largest = value;
        }
        if (this.#panels[index]!.unit === "bytes") this.#fit(index, largest);
      }
      for (const { counter, renderers } of this.#lines) {
        for (const renderer of renderers) renderer.visible = !hidden.has(counter);
      }
      // BokehJS 3.9.2 never leaves an area of no points.
      this.#source.data = series.times_ms.length > 0 ? data : emptyColumns(this.#panels);
      this.#gaps.data = {
        left: series.gaps.map((gap) => gap.start_ms + offset_ms),
        right: series.gaps.map((gap) => gap.end_ms + offset_ms),
      };
      const width_px = this.#frameWidth();
      const desired_num_ticks = Math.max(2, Math.round(width_px / TIME_LABEL_PX));
      for (const ticker of this.#time_tickers) ticker.setv({ desired_num_ticks });
      const px_per_ms = width_px / (end_ms - start_ms);
      this.#strip.data = stripData(cells, layers, px_per_ms, end_ms, this.#theme);
    } finally {
      this.#is_ours = false;
    }
  }

  /** The time under a pointer, in local wall-clock ms; `undefined` outside the frames. */
  timeAt(client_x: number): number | undefined {
    const plot = this.#plots.at(-1)!;
    const view = this.#mounted?.viewOf(plot);
    if (!view) return undefined;
    const { left, right } = view.frame.bbox;
    const x = client_x - view.el.getBoundingClientRect().left;
    return x < left || x > right ? undefined : view.frame.x_scale.invert(x);
  }

  /** Draws a line through all panels at a time, or none. */
  pointAt(time_ms: number | undefined): void {
    for (const line of this.#pointer) {
      if (time_ms !== undefined) line.location = time_ms;
      line.visible = time_ms !== undefined;
    }
  }

  #frameWidth(): number {
    const view = this.#mounted?.viewOf(this.#plots.at(-1)!);
    return view?.frame.bbox.width || 600;
  }

  /** Grows at once and shrinks late, so that the scale does not tremble. */
  #fit(index: number, largest: number): void {
    const range = this.#y_ranges[index]!;
    const end = Math.max(largest * 1.12, 1024);
    if (largest * 1.04 > range.end || largest < range.end * 0.6) range.end = end;
  }

  #panelPlot(
    models: ReturnType<typeof bokehModels>,
    panel: Panel,
    height: number,
    is_last: boolean,
  ): Plot {
    const theme = this.#theme;
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
    const y_range = new models.Range1d({ start: 0, end: panel.unit === "percent" ? 105 : 1024 });
    this.#y_ranges.push(y_range as { start: number; end: number });
    const plot = new models.Plot({
      x_range: this.#x_range,
      y_range,
      height,
      sizing_mode: "stretch_width",
      min_border: 0,
      min_border_left: LEFT_PX,
      min_border_right: 10,
      min_border_top: 8,
      min_border_bottom: is_last ? AXIS_PX : 6,
      background_fill_color: null,
      border_fill_color: null,
      outline_line_color: null,
      toolbar_location: null,
    });
    const ticks = height > 110 ? 4 : 2;
    const ticker =
      panel.unit === "bytes"
        ? byteTicks(models, ticks)
        : { ticker: new models.FixedTicker({ ticks: [0, 50, 100] }) };
    const y_axis = new models.LinearAxis({ ...ticker, ...text });
    plot.add_layout(y_axis, "left");
    plot.add_layout(
      new models.Grid({ axis: y_axis, dimension: 1, grid_line_color: theme.line }),
      "center",
    );
    const time_ticker = new models.DatetimeTicker();
    this.#time_tickers.push(time_ticker);
    const x_axis = new models.DatetimeAxis({
      ...text,
      visible: is_last,
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
    plot.add_layout(x_axis, "below");
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
      this.#gaps,
    );
    // What is filled matters most, and lies on top where lines meet.
    const drawn = [...panel.lines].sort((one, other) => +one.is_filled - +other.is_filled);
    for (const { counter, colour, dash, is_filled } of drawn) {
      const x = { field: "time" };
      const renderers = [];
      if (is_filled) {
        renderers.push(
          plot.add_glyph(
            new models.VAreaStep({
              x,
              y1: { value: 0 },
              y2: { field: `a${counter}` },
              step_mode: "after",
              fill_color: theme[colour],
              fill_alpha: 0.16,
            }),
            this.#source,
          ),
        );
      }
      renderers.push(
        plot.add_glyph(
          new models.Step({
            x,
            y: { field: `c${counter}` },
            mode: "after",
            line_color: theme[colour],
            line_width: is_filled ? 1.8 : 1.5,
            line_dash: [...dash],
          }),
          this.#source,
        ),
      );
      this.#lines.push({ counter, renderers });
    }
    const pointer = new models.Span({
      dimension: "height",
      location: 0,
      visible: false,
      line_color: theme.soft,
      line_width: 1,
    });
    plot.add_layout(pointer, "center");
    this.#pointer.push(pointer as { location: unknown; visible: boolean });
    const drag = new models.PanTool({ dimensions: "width" });
    const wheel = new models.WheelZoomTool({ dimensions: "width", modifiers: { ctrl: true } });
    plot.add_tools(drag, wheel);
    plot.toolbar.active_drag = drag;
    plot.toolbar.active_scroll = wheel;
    return plot;
  }
}

/** Bokeh warns of columns that a glyph names and the source lacks; in empty ones it runs for ever. */
function emptyColumns(panels: readonly Panel[]): Record<string, number[]> {
  const names = panels.flatMap(({ lines }) =>
    lines.flatMap(({ counter }) => [`c${counter}`, `a${counter}`]),
  );
  return Object.fromEntries(["time", ...names].map((name) => [name, [0]]));
}

/** Paddle's own memory gets half of the room or more. */
function panelHeights(panels: readonly Panel[], height_px: number): number[] {
  const weights = panels.map(({ unit }, index) => (unit === "percent" ? 1 : index === 0 ? 3 : 1.6));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => Math.round((height_px * weight) / sum));
}
