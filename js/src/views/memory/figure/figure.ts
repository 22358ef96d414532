/** Paints the timeline: the stack of blocks between its axes, with marks and the chosen moment. */
import type { Blocks } from "../../../memory/blocks/blocks.ts";
import { baseBytes } from "../../../memory/blocks/marks.ts";
import type { StackPicture } from "../../../memory/stack/stack_window.ts";
import { paintAxes } from "./axes.ts";
import { type Frame, placesIn } from "./frame.ts";
import { type Marks, paintLines, paintNames, paintTints } from "./marks.ts";
import type { MemoryPalette } from "./palette.ts";
import { type LitBlocks, paintStack } from "./stack_paint.ts";

const MOMENT_FILL_ALPHA = 0.12;
const MOMENT_LINE_ALPHA = 0.9;

export interface Figure {
  readonly blocks: Blocks;
  readonly picture: StackPicture;
  readonly lit: LitBlocks | undefined;
  readonly marks: Marks;
  /** The chosen moment or span, if it is painted too. */
  readonly chosen?: { readonly from_ns: number; readonly to_ns: number };
}

export function paintFigure(
  context: CanvasRenderingContext2D,
  frame: Frame,
  { blocks, picture, lit, marks, chosen }: Figure,
  palette: MemoryPalette,
): void {
  const places = placesIn(frame);
  const { left_px, top_px, width_px, height_px } = frame;
  const inside = (paint: () => void): void => {
    context.save();
    context.beginPath();
    context.rect(left_px, top_px, width_px, height_px);
    context.clip();
    paint();
    context.restore();
  };
  inside(() => paintTints(context, frame, places, marks, palette));
  paintAxes(context, frame, places, palette, baseBytes(blocks));
  inside(() => {
    paintStack(context, frame, places, blocks, picture, lit, palette);
    context.globalAlpha = 1;
    paintLines(context, frame, places, marks, palette);
  });
  context.save();
  paintNames(context, frame, places, marks, palette);
  context.restore();
  if (!chosen) {
    return;
  }
  inside(() => {
    const [from_px, to_px] = [places.x(chosen.from_ns), places.x(chosen.to_ns)];
    context.fillStyle = palette.select;
    context.globalAlpha = MOMENT_FILL_ALPHA;
    context.fillRect(from_px, top_px, to_px - from_px, height_px);
    context.globalAlpha = MOMENT_LINE_ALPHA;
    context.strokeStyle = palette.select;
    context.lineWidth = 1.5;
    context.beginPath();
    for (const at_px of [from_px, to_px]) {
      context.moveTo(at_px, top_px);
      context.lineTo(at_px, top_px + height_px);
    }
    context.stroke();
  });
}
