/** The legend of the colours in an exported picture. */
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

export const COLOUR_LEGEND_PX = 52;
export const COLOUR_LEGEND_WIDTH_PX = 560;

const SWATCH = { width: 22, height: 12 };
const RAMP_PX = 180;
const STEPS = 36;

/** Draw the legend with its upper left corner at a place. */
export function paintColourLegend(brush: Brush, ink: ColourInk, left: number, top: number): void {
  const { theme, measure } = brush;
  write(brush, legendTitle(ink), left, top + 6, "sublabel", theme.soft);
  let x = left;
  const y = top + 28;
  const say = (text: string): void => {
    write(brush, text, x, y, "sublabel", theme.ink);
    x += measure.width(text, "sublabel") + 14;
  };
  for (const part of legendParts(ink, theme)) {
    if (part.kind === "ramp") {
      say(part.least);
      x -= 6;
      paintRamp(brush, part, x, y);
      x += RAMP_PX + 8;
      say(part.most);
    } else {
      paintSwatch(brush, part, x, y);
      x += SWATCH.width + 6;
      say(part.label);
    }
  }
}

function paintRamp(
  { context }: Brush,
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
  { context, theme }: Brush,
  { colour, isHatched }: Extract<LegendPart, { kind: "swatch" }>,
  x: number,
  y: number,
): void {
  const place = { x: x + SWATCH.width / 2, y, ...SWATCH };
  traceRectangle(context, place, 3);
  fillPath(context, colour);
  if (isHatched) {
    traceHatching(context, place);
    strokePath(context, theme.soft, 1);
    traceRectangle(context, place, 3);
  }
  strokePath(context, theme.soft, 1);
}
