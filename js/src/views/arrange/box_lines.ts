/** The text line of boxes that have only one, and the width that this line needs. */
import type { TextMeasure } from "../scene/measure.ts";
import type { SceneBox } from "../scene/scene.ts";

export const BOX_HEIGHT_PX = 28;
export const PADDING_PX = 14;
const GAP_PX = 7;
/**
 * The widths of boxes are multiples of this. Few different widths make columns easier to read, and
 * equal groups get equal layouts.
 */
const WIDTH_STEP_PX = 24;
export const NARROWEST_PX = 120;
export const WIDEST_PX = 312;
/** The widest box of a picture that is too wide for its view. */
export const WIDEST_NARROW_PX = 192;

export function boxLine(
  measure: TextMeasure,
  label: string,
  sublabel: string,
  widest_px: number,
): Pick<SceneBox, "label" | "sublabel" | "width" | "height"> {
  const beside = sublabel ? GAP_PX + measure.width(sublabel, "sublabel") : 0;
  const width = stepped(measure.width(label, "label") + beside + 2 * PADDING_PX, widest_px);
  return { label, sublabel, width, height: BOX_HEIGHT_PX };
}

/** Round the width of a box up to the next step, within limits. */
export function stepped(width: number, widest_px: number): number {
  const steps = Math.ceil((width - NARROWEST_PX) / WIDTH_STEP_PX);
  return Math.min(widest_px, NARROWEST_PX + Math.max(0, steps) * WIDTH_STEP_PX);
}
