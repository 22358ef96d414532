/** Draws boxes of time on a canvas, or into an SVG file. */
import type { ColourName, Theme } from "../../dom/theme.ts";
import { type IcicleBox, nameOfPart } from "../../model/time/icicle.ts";
import { mix } from "../scene/drawing_style.ts";
import type { TextMeasure } from "../scene/measure.ts";

export const ROW_PX = 22;
const TEXT_PX = 6;
/** Narrower boxes have no text. A box with a longer text shows at least this much of the text. */
const NARROWEST_TEXT_PX = 30;
const SHORTEST_TEXT = 4;
const FADED = 0.35;

/** How a box looks. `line`: only an outline, for time outside of ops. */
export interface BoxLook {
  readonly colour: ColourName;
  readonly fill: "strong" | "soft" | "line";
  readonly isSelected: boolean;
  /** Whether the box does not match the search. */
  readonly isFaded: boolean;
}

export interface IcicleLook {
  readonly theme: Theme;
  readonly measure: TextMeasure;
  label(box: IcicleBox): string;
  look(box: IcicleBox): BoxLook;
  /** Name of the part with a ring around it. */
  readonly cursor?: string;
}

/** The share of a box's colour in its fill. */
export const SHARES = { strong: 0.42, soft: 0.17, line: 0 } as const;

/**
 * @param top_px how far the drawing is scrolled down
 * @param height_px how much of the height is visible
 */
export function paintIcicle(
  context: CanvasRenderingContext2D,
  boxes: readonly IcicleBox[],
  style: IcicleLook,
  top_px = 0,
  height_px = Number.POSITIVE_INFINITY,
): void {
  const { theme, measure } = style;
  context.textBaseline = "middle";
  context.font = measure.font("small");
  let ring: IcicleBox | undefined;
  for (const box of boxes) {
    const y = box.row * ROW_PX - top_px;
    if (y < -ROW_PX || y > height_px) continue;
    const look = style.look(box);
    // A box between others keeps a gap on its right; the thinnest are a hairline.
    const width = Math.max(1, box.width_px - (box.width_px > 3 ? 1 : 0));
    const share = SHARES[look.fill] * (look.isFaded ? FADED : 1);
    const colour = theme[look.colour];
    if (look.fill === "line") {
      context.setLineDash(box.width_px > 8 ? [3, 3] : []);
      context.lineWidth = 1;
      context.strokeStyle = look.isFaded ? theme.line : mix(theme.bg, theme.soft, 0.6);
      context.beginPath();
      context.rect(box.left_px + 0.5, y + 1.5, Math.max(0.5, width - 1), ROW_PX - 3);
      context.stroke();
      context.setLineDash([]);
    } else {
      context.fillStyle = look.isSelected ? theme.lit : mix(theme.bg, colour, share);
      context.fillRect(box.left_px, y + 1, width, ROW_PX - 2);
      if (look.isSelected) {
        context.fillStyle = colour;
        context.fillRect(box.left_px, y + ROW_PX - 4, width, 3);
      }
    }
    if (style.cursor === nameOfPart(box)) ring = box;
    if (box.width_px < NARROWEST_TEXT_PX) continue;
    const label = style.label(box);
    const text = measure.fit(label, "small", width - 2 * TEXT_PX);
    context.fillStyle = look.isFaded || look.fill === "line" ? theme.soft : theme.ink;
    if (text === label || text.length > SHORTEST_TEXT)
      context.fillText(text, box.left_px + TEXT_PX, y + ROW_PX / 2 + 0.5);
  }
  if (!ring) return;
  context.lineWidth = 2;
  context.strokeStyle = theme.select;
  context.beginPath();
  context.rect(
    ring.left_px + 1,
    ring.row * ROW_PX - top_px + 1,
    Math.max(2, ring.width_px - 3),
    ROW_PX - 2,
  );
  context.stroke();
}
