/** How wide an open group must be for its title. */
import { t } from "../../words/page.ts";
import { GROUP_TEXT_PX } from "./drawing_style.ts";
import type { TextMeasure } from "./measure.ts";
import type { SceneFrame } from "./scene.ts";

/** Gaps between name and details, and behind them. */
export const TITLE_GAP_PX = 8;
export const TITLE_END_PX = 12;
const REFOLD_GAP_PX = 10;
/** The most width that a group gets for its title; longer titles end in an ellipsis. */
const WIDEST_PX = 360;

/** Width of a frame's title in px: sign, name, details, and the control that folds a run. */
export function titleRoom(
  { title, subtitle, refold }: Pick<SceneFrame, "title" | "subtitle" | "refold">,
  measure: TextMeasure,
): number {
  const words = measure.width(title, "title") + TITLE_GAP_PX + measure.width(subtitle, "sublabel");
  return Math.min(
    WIDEST_PX,
    Math.ceil(GROUP_TEXT_PX + words + TITLE_END_PX + refoldRoom(refold, measure)),
  );
}

/** Width of the control that folds a run, at the right end of its first member's title. */
export function refoldRoom(refold: string, measure: TextMeasure): number {
  return refold ? measure.width(t("box.refold", { what: refold }), "sublabel") + REFOLD_GAP_PX : 0;
}
