/** Draws the legend of colours in an exported picture. */
import {
  type Brush,
  fillPath,
  strokePath,
  traceHatching,
  traceRectangle,
  write,
} from "../paint/brush.ts";
import type { ColourInk } from "./colour_ink.ts";
import { type LegendPart, legendParts, legendTitle } from "./legend_parts.ts";

type LegendBrush = Pick<Brush, "context" | "theme" | "measure">;

export const COLOUR_LEGEND_PX = 52;
export const COLOUR_LEGEND_WIDTH_PX = 560;

const SWATCH = { width: 14, height: 12 };
const RAMP_PX = 180;
const STEPS = 36;

/** Draw the legend and its title. `left` and `top` are the upper left corner. */
export function paintColourLegend(brush: Brush, ink: ColourInk, left: number, top: number): void {
  const { theme } = brush;
  write(brush, legendTitle(ink), left, top + 6, "sublabel", theme.soft);
  paintLegend(brush, legendParts(ink, theme), left, top + 28);
}

/** Draw a legend's parts in a row. @param y the middle of their height */
export function paintLegend(
  brush: LegendBrush,
  parts: readonly LegendPart[],
  left: number,
  y: number,
): void {
  let x = left;
  const say = (text: string, gap: number): void => {
    write(brush, text, x, y, "sublabel", brush.theme.ink);
    x += brush.measure.width(text, "sublabel") + gap;
  };
  for (const part of parts) {
    if (part.kind === "ramp") {
      say(part.least, 8);
      paintRamp(brush, part, x, y);
      x += RAMP_PX + 8;
      say(part.most, 14);
    } else {
      paintSwatch(brush, part, x, y);
      x += SWATCH.width + 6;
      say(part.label, 14);
    }
  }
}

function paintRamp(
  { context }: LegendBrush,
  { colourAt }: Extract<LegendPart, { kind: "ramp" }>,
  x: number,
  y: number,
): void {
  const width = RAMP_PX / STEPS;
  for (let step = 0; step < STEPS; step++) {
    context.fillStyle = colourAt((step + 0.5) / STEPS);
    context.fillRect(x + step * width, y - SWATCH.height / 2, width + 0.5, SWATCH.height);
  }
}

function paintSwatch(
  { context, theme }: LegendBrush,
  { colour, look }: Extract<LegendPart, { kind: "swatch" }>,
  x: number,
  y: number,
): void {
  const place = { x: x + SWATCH.width / 2, y, ...SWATCH };
  traceRectangle(context, place, 3);
  fillPath(context, colour);
  if (look === "hatched") {
    traceHatching(context, place);
    strokePath(context, theme.soft, 1);
    traceRectangle(context, place, 3);
  }
  strokePath(context, theme.soft, 1, look === "dashed" ? [3, 3] : []);
}
