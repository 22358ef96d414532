/** The strip above the chart: when each cell and each layer ran. */
import type { Theme } from "../../dom/theme.ts";
import { t } from "../../words/live.ts";
import { type Frame, STANDOFF_PX } from "./panel_paint.ts";

/** When something ran, in ms since the sampler was made, and what ran. */
export type Ran = readonly [start_ms: number, end_ms: number, label: string];

const LABEL_MARGIN_PX = 8;
/** Shorter spans are merged, because a layer may run for a fraction of a pixel. */
const LEAST_PX = 4;
/** The share of a row's height that its spans fill. */
const FILLED = 0.84;

/** Paint two rows: cells over layers. */
export function paintStrip(
  context: CanvasRenderingContext2D,
  frame: Frame,
  cells: readonly Ran[],
  layers: readonly Ran[],
  theme: Theme,
): void {
  const least_ms = LEAST_PX / (frame.x(1) - frame.x(0));
  const row_px = (frame.bottom_px - frame.top_px) / 2;
  const rows = [
    { name: t("strip.cell"), spans: cells, fill: theme.lit },
    { name: t("strip.layer"), spans: merged(layers, least_ms), fill: theme.line },
  ];
  context.textBaseline = "middle";
  context.lineWidth = 1;
  context.strokeStyle = theme.bg;
  rows.forEach(({ name, spans, fill }, row) => {
    const middle_px = frame.top_px + (row + 0.5) * row_px;
    context.textAlign = "right";
    context.fillStyle = theme.soft;
    context.fillText(name, frame.left_px - STANDOFF_PX, middle_px);
    context.textAlign = "left";
    for (const span of spans) {
      const { left_px, right_px } = spanIn(frame, span);
      const [, , label] = span;
      context.fillStyle = fill;
      context.beginPath();
      context.rect(left_px, middle_px - (FILLED * row_px) / 2, right_px - left_px, FILLED * row_px);
      context.fill();
      context.stroke();
      if (context.measureText(label).width > right_px - left_px - LABEL_MARGIN_PX) continue;
      context.fillStyle = theme.ink;
      context.fillText(label, left_px + LABEL_MARGIN_PX / 2, middle_px);
    }
  });
}

/** The visible part of a span: the name of a cell that runs for long stays visible at the edge. */
export function spanIn(
  { left_px, right_px, x }: Pick<Frame, "left_px" | "right_px" | "x">,
  [start_ms, end_ms]: Ran,
): { left_px: number; right_px: number } {
  return { left_px: Math.max(left_px, x(start_ms)), right_px: Math.min(right_px, x(end_ms)) };
}

/** Merge neighbouring spans with equal labels; a short first span is merged under their common path. */
function merged(spans: readonly Ran[], least_ms: number): Ran[] {
  const merged: [number, number, string][] = [];
  for (const [start_ms, end_ms, label] of spans) {
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

/** `layer1.0` for `layer1.0.conv1` and `layer1.0.relu`; "" if they have nothing in common. */
function commonPath(one: string, other: string): string {
  const parts = one.split(".");
  const others = other.split(".");
  const different = parts.findIndex((part, index) => part !== others[index]);
  return parts.slice(0, different < 0 ? parts.length : different).join(".");
}
