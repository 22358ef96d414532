/** The figure: a plot for each panel, a common time axis, and a strip that shows which code ran. */
import type { Plot } from "@bokeh/bokehjs/build/js/lib/models/plots/plot";
import type { ColumnDataSource } from "@bokeh/bokehjs/build/js/lib/models/sources/column_data_source";
import { type BokehNamespace, bokehModels } from "../../charts/bokeh_loader.ts";
import { type MountedFigure, mountFigure } from "../../charts/mount_figure.ts";
import type { Theme } from "../../dom/theme.ts";
import type { Panel } from "../counters/lines.ts";
import type { Series } from "../counters/samples.ts";
import { AXIS_PX, LEFT_PX, type PanelPlot, panelPlot } from "./panel_plot.ts";
import { type StripRow, stripData, stripPlot } from "./strip.ts";

/** The width of a label such as "14:03:12", with space around it. */
const TIME_LABEL_PX = 96;
const STRIP_PX = 40;

export interface FigureOptions {
  readonly theme: Theme;
  readonly panels: readonly Panel[];
  readonly height_px: number;
  /** Is called when the user has moved the time axis. */
  readonly onMove: (start_ms: number, end_ms: number) => void;
}

/** The data to draw. Times are local wall-clock ms, as Bokeh's time axis shows them. */
export interface Picture {
  readonly start_ms: number;
  readonly end_ms: number;
  /** The offset to add to the times of the series. */
  readonly offset_ms: number;
  readonly series: Series;
  readonly cells: StripRow;
  readonly layers: StripRow;
  /** Counters whose lines are hidden. */
  readonly hidden: ReadonlySet<number>;
}

export class Figure {
  readonly #theme: Theme;
  readonly #panels: readonly Panel[];
  readonly #source: ColumnDataSource;
  readonly #gaps: ColumnDataSource;
  readonly #strip: ColumnDataSource;
  readonly #plots: Plot[];
  readonly #x_range;
  readonly #drawn: PanelPlot[];
  readonly #layout;
  #mounted: MountedFigure | undefined;
  #is_ours = false;

  constructor(bokeh: BokehNamespace, { theme, panels, height_px, onMove }: FigureOptions) {
    this.#theme = theme;
    this.#panels = panels;
    const models = bokehModels(bokeh);
    this.#source = new models.ColumnDataSource({ data: emptyColumns(panels) });
    this.#gaps = new models.ColumnDataSource({ data: { left: [], right: [] } });
    this.#strip = new models.ColumnDataSource({
      data: stripData([], [], { start_ms: 0, end_ms: 0, px_per_ms: 1 }, theme),
    });
    this.#x_range = new models.Range1d({ start: 0, end: 1 });
    const strip = stripPlot(models, {
      theme,
      source: this.#strip,
      x_range: this.#x_range,
      left_px: LEFT_PX,
      height_px: STRIP_PX,
    });
    const heights = panelHeights(panels, height_px - STRIP_PX - AXIS_PX);
    this.#drawn = panels.map((panel, index) => {
      const is_last = index === panels.length - 1;
      return panelPlot(models, {
        theme,
        panel,
        samples: this.#source,
        gaps: this.#gaps,
        x_range: this.#x_range,
        height_px: heights[index]! + (is_last ? AXIS_PX : 0),
        has_axis: is_last,
      });
    });
    this.#plots = [strip, ...this.#drawn.map(({ plot }) => plot)];
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
          // An area cannot have a break. In a gap it falls to 0.
          if (is_filled) data[`a${counter}`] = values.map((value) => value || 0);
          if (hidden.has(counter)) continue;
          for (const value of values) if (value > largest) largest = value;
        }
        if (this.#panels[index]!.unit === "bytes") this.#fit(index, largest);
      }
      for (const { counter, renderers } of this.#drawn.flatMap(({ lines }) => lines)) {
        for (const renderer of renderers) renderer.visible = !hidden.has(counter);
      }
      // BokehJS 3.9.2 hangs when it draws an area without points.
      this.#source.data = series.times_ms.length > 0 ? data : emptyColumns(this.#panels);
      this.#gaps.data = {
        left: series.gaps.map((gap) => gap.start_ms + offset_ms),
        right: series.gaps.map((gap) => gap.end_ms + offset_ms),
      };
      const width_px = this.#frameWidth();
      const desired_num_ticks = Math.max(2, Math.round(width_px / TIME_LABEL_PX));
      for (const { time_ticker } of this.#drawn) time_ticker.setv({ desired_num_ticks });
      const px_per_ms = width_px / (end_ms - start_ms);
      this.#strip.data = stripData(cells, layers, { start_ms, end_ms, px_per_ms }, this.#theme);
    } finally {
      this.#is_ours = false;
    }
  }

  /** The time under the pointer, in local wall-clock ms; `undefined` outside of the frames. */
  timeAt(client_x: number): number | undefined {
    const plot = this.#plots.at(-1)!;
    const view = this.#mounted?.viewOf(plot);
    if (!view) return undefined;
    const { left, right } = view.frame.bbox;
    const x = client_x - view.el.getBoundingClientRect().left;
    return x < left || x > right ? undefined : view.frame.x_scale.invert(x);
  }

  /** Draws a vertical line in each panel at a time. Without a time, hides these lines. */
  pointAt(time_ms: number | undefined): void {
    for (const { pointer } of this.#drawn) {
      if (time_ms !== undefined) pointer.location = time_ms;
      pointer.visible = time_ms !== undefined;
    }
  }

  #frameWidth(): number {
    const view = this.#mounted?.viewOf(this.#plots.at(-1)!);
    return view?.frame.bbox.width || 600;
  }

  /**
   * Fit a y range to its largest value. The range grows at once, but shrinks only for a much smaller
   * value, so that the scale rarely changes.
   */
  #fit(index: number, largest: number): void {
    const range = this.#drawn[index]!.y_range;
    const end = Math.max(largest * 1.12, 1024);
    if (largest * 1.04 > range.end || largest < range.end * 0.6) range.end = end;
  }
}

/** A row of zeros. Bokeh warns about a glyph without its column, and hangs if a column is empty. */
function emptyColumns(panels: readonly Panel[]): Record<string, number[]> {
  const names = panels.flatMap(({ lines }) =>
    lines.flatMap(({ counter }) => [`c${counter}`, `a${counter}`]),
  );
  return Object.fromEntries(["time", ...names].map((name) => [name, [0]]));
}

/** Heights of the panels. The first panel shows Paddle's memory, and is the highest. */
function panelHeights(panels: readonly Panel[], height_px: number): number[] {
  const weights = panels.map(({ unit }, index) => (unit === "percent" ? 1 : index === 0 ? 3 : 1.6));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => Math.round((height_px * weight) / sum));
}
