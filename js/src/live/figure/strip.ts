/** The strip above the chart: when each cell and each layer ran. */
import type { Plot } from "@bokeh/bokehjs/build/js/lib/models/plots/plot";
import type { Range1d } from "@bokeh/bokehjs/build/js/lib/models/ranges/range1d";
import type { ColumnDataSource } from "@bokeh/bokehjs/build/js/lib/models/sources/column_data_source";
import type { BokehModels } from "../../charts/bokeh_loader.ts";
import type { Theme } from "../../dom/theme.ts";
import { t } from "../../words/live.ts";
import type { Span } from "../counters/messages.ts";

/** Spans whose times are local wall-clock ms. */
export type StripRow = readonly Span[];

const CHARACTER_PX = 6.2;
const LABEL_MARGIN_PX = 8;
/** Shorter spans are merged, because a layer may run for less than a pixel. */
const LEAST_PX = 4;

interface StripOptions {
  readonly theme: Theme;
  readonly source: ColumnDataSource;
  readonly x_range: Range1d;
  readonly left_px: number;
  readonly height_px: number;
}

/** A plot with two rows: cells above layers. */
export function stripPlot(
  models: BokehModels,
  { theme, source, x_range, left_px, height_px }: StripOptions,
): Plot {
  const plot = new models.Plot({
    x_range,
    y_range: new models.Range1d({ start: 0, end: 2 }),
    height: height_px,
    sizing_mode: "stretch_width",
    min_border: 0,
    min_border_left: left_px,
    min_border_right: 10,
    min_border_top: 4,
    background_fill_color: null,
    border_fill_color: null,
    outline_line_color: null,
    toolbar_location: null,
  });
  const axis = new models.LinearAxis({
    ticker: new models.FixedTicker({ ticks: [0.5, 1.5] }),
    major_label_overrides: new Map([
      [0.5, t("strip.layer")],
      [1.5, t("strip.cell")],
    ]),
    major_label_text_color: theme.soft,
    major_label_text_font: theme.font,
    major_label_text_font_size: "11px",
    axis_line_color: null,
    major_tick_line_color: null,
    minor_tick_line_color: null,
  });
  plot.add_layout(axis, "left");
  plot.add_glyph(
    new models.Quad({
      left: { field: "left" },
      right: { field: "right" },
      bottom: { field: "bottom" },
      top: { field: "top" },
      fill_color: { field: "fill" },
      line_color: theme.bg,
      line_width: 1,
    }),
    source,
  );
  plot.add_glyph(
    new models.Text({
      x: { field: "label_left" },
      y: { field: "middle" },
      text: { field: "label" },
      x_offset: { value: LABEL_MARGIN_PX / 2 },
      text_baseline: "middle",
      text_color: theme.ink,
      text_font: theme.font,
      text_font_size: { value: "11px" },
    }),
    source,
  );
  return plot;
}

/** The visible part of the strip. */
export interface StripWindow {
  readonly start_ms: number;
  readonly end_ms: number;
  readonly px_per_ms: number;
}

/**
 * The columns of the strip's source. A label is drawn if it fits. If a span began before the
 * window, its label is at the window's edge, so the name of a long cell stays visible.
 */
export function stripData(
  cells: StripRow,
  layers: StripRow,
  window: StripWindow,
  theme: Pick<Theme, "lit" | "line">,
): Record<string, (number | string)[]> {
  const { px_per_ms } = window;
  const data = {
    label_left: [] as number[],
    left: [] as number[],
    right: [] as number[],
    bottom: [] as number[],
    top: [] as number[],
    middle: [] as number[],
    fill: [] as string[],
    label: [] as string[],
  };
  for (const [row, fill, bottom] of [
    [cells, theme.lit, 1],
    [merged(layers, window.end_ms, LEAST_PX / px_per_ms), theme.line, 0],
  ] as const) {
    for (const [start_ms, end, label] of row) {
      const end_ms = end ?? window.end_ms;
      const label_ms = Math.max(start_ms, window.start_ms);
      const room_px = (Math.min(end_ms, window.end_ms) - label_ms) * px_per_ms - LABEL_MARGIN_PX;
      data.label_left.push(label_ms);
      data.left.push(start_ms);
      data.right.push(end_ms);
      data.bottom.push(bottom + 0.08);
      data.top.push(bottom + 0.92);
      data.middle.push(bottom + 0.5);
      data.fill.push(fill);
      data.label.push(room_px >= label.length * CHARACTER_PX ? label : "");
    }
  }
  return data;
}

/**
 * Merge adjacent spans with equal labels. A short span is merged with the next one, and their label
 * is the common path.
 */
function merged(spans: StripRow, now_ms: number, least_ms: number): Span[] {
  const merged: [number, number, string][] = [];
  for (const [start_ms, end, label] of spans) {
    const end_ms = end ?? now_ms;
    const last = merged.at(-1);
    if (last === undefined || start_ms - last[1] > least_ms) {
      merged.push([start_ms, end_ms, label]);
    } else if (last[2] === label) {
      last[1] = end_ms;
    } else if (last[1] - last[0] < least_ms) {
      last[1] = end_ms;
      last[2] = commonPath(last[2], label);
    } else {
      merged.push([start_ms, end_ms, label]);
    }
  }
  return merged;
}

/**
 * The common path of two layers: `layer1.0` for `layer1.0.conv1` and `layer1.0.relu`; "" if there
 * is none.
 */
function commonPath(one: string, other: string): string {
  const parts = one.split(".");
  const others = other.split(".");
  const different = parts.findIndex((part, index) => part !== others[index]);
  return parts.slice(0, different < 0 ? parts.length : different).join(".");
}
