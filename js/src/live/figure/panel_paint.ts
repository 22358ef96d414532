/** Paints one panel: its axis of values, the gaps between samples, and its lines. */
import { byteTicks } from "../../charts/ticks.ts";
import type { Theme } from "../../dom/theme.ts";
import { formatBytes } from "../../words/quantities.ts";
import type { Line, Panel } from "../counters/lines.ts";
import type { Series } from "../counters/samples.ts";

/** The part of the canvas in which values are drawn. */
export interface Frame {
  readonly left_px: number;
  readonly right_px: number;
  readonly top_px: number;
  readonly bottom_px: number;
  x(time_ms: number): number;
}

type Context = CanvasRenderingContext2D;

export const TICK_PX = 4;
/** Gap between a tick and its label. */
export const STANDOFF_PX = 5;
/** Higher panels have more labels. */
const HIGH_PX = 96;
const AREA_ALPHA = 0.16;
const HATCHING_PX = 7;
const HATCHING_ALPHA = 0.55;

/** @param most the value at the top of the frame */
export function paintPanel(
  context: Context,
  frame: Frame,
  { unit, lines }: Panel,
  series: Series,
  hidden: ReadonlySet<number>,
  most: number,
  theme: Theme,
): void {
  const { left_px, right_px, top_px, bottom_px } = frame;
  const height_px = bottom_px - top_px;
  const y = (value: number): number => bottom_px - (value / most) * height_px;
  const isBytes = unit === "bytes";
  const ticks = isBytes ? byteTicks(0, most, height_px > HIGH_PX ? 4 : 2) : [0, 50, 100];
  context.strokeStyle = theme.line;
  context.fillStyle = theme.soft;
  context.lineWidth = 1;
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.beginPath();
  context.moveTo(left_px, top_px);
  context.lineTo(left_px, bottom_px);
  for (const value of ticks) {
    context.moveTo(left_px - TICK_PX, y(value));
    context.lineTo(right_px, y(value));
    const label = isBytes ? formatBytes(value) : String(value);
    context.fillText(label, left_px - TICK_PX - STANDOFF_PX, y(value));
  }
  context.stroke();
  context.save();
  context.beginPath();
  context.rect(left_px, top_px, right_px - left_px, height_px);
  context.clip();
  for (const { start_ms, end_ms } of series.gaps) {
    paintGap(context, frame, frame.x(start_ms), frame.x(end_ms), theme);
  }
  // Filled lines matter most, so draw them on top.
  for (const line of [...lines].sort((one, other) => +one.is_filled - +other.is_filled)) {
    if (!hidden.has(line.counter)) paintLine(context, frame, line, series, y, theme);
  }
  context.restore();
}

/** Fill and hatch the time between two samples. */
function paintGap(
  context: Context,
  { top_px, bottom_px }: Frame,
  from_px: number,
  to_px: number,
  { chip, detach }: Theme,
): void {
  context.save();
  context.beginPath();
  context.rect(from_px, top_px, to_px - from_px, bottom_px - top_px);
  context.clip();
  context.fillStyle = chip;
  context.fill();
  context.strokeStyle = detach;
  context.globalAlpha = HATCHING_ALPHA;
  context.beginPath();
  for (let x = from_px; x < to_px + bottom_px - top_px; x += HATCHING_PX) {
    context.moveTo(x, top_px);
    context.lineTo(x - bottom_px + top_px, bottom_px);
  }
  context.stroke();
  context.restore();
}

function paintLine(
  context: Context,
  { x, bottom_px }: Frame,
  { counter, colour, dash, is_filled }: Line,
  { times_ms, values }: Series,
  y: (value: number) => number,
  theme: Theme,
): void {
  const own = values[counter] ?? [];
  if (is_filled && times_ms.length > 0) {
    context.globalAlpha = AREA_ALPHA;
    context.fillStyle = theme[colour];
    context.beginPath();
    // An area has no breaks: in a gap it falls to 0.
    traceSteps(
      context,
      times_ms.map(x),
      own.map((value) => y(value || 0)),
    );
    context.lineTo(x(times_ms.at(-1)!), bottom_px);
    context.lineTo(x(times_ms[0]!), bottom_px);
    context.fill();
    context.globalAlpha = 1;
  }
  context.strokeStyle = theme[colour];
  context.lineWidth = is_filled ? 1.8 : 1.5;
  context.setLineDash([...dash]);
  context.beginPath();
  traceSteps(context, times_ms.map(x), own.map(y));
  context.stroke();
  context.setLineDash([]);
}

/** A value holds until the next time; NaN breaks the line. */
function traceSteps(context: Context, xs: readonly number[], ys: readonly number[]): void {
  let isBroken = true;
  ys.forEach((y, at) => {
    if (Number.isNaN(y)) {
      isBroken = true;
      return;
    }
    if (isBroken) context.moveTo(xs[at]!, y);
    else context.lineTo(xs[at]!, y);
    isBroken = false;
    if (at + 1 < xs.length) context.lineTo(xs[at + 1]!, y);
  });
}
