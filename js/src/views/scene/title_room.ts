/** How wide an open group has to be for its title. */
import { t } from "../../words/page.ts";
import { GROUP_TEXT_PX } from "./drawing_style.ts";
import type { TextMeasure } from "./measure.ts";
import type { SceneFrame } from "./scene.ts";

/** Between name and details, and behind them. */
export const TITLE_GAP_PX = 8;
export const TITLE_END_PX = 12;
const REFOLD_GAP_PX = 10;
/** No group is made wider than this for its title: what is longer ends in an ellipsis. */
const WIDEST_PX = 360;

/** Width of a frame's title, in px: sign, name, details, and what folds a run. */
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

/** Width of what folds a run, at the right end of its first member's title. */
export function refoldRoom(refold: string, measure: TextMeasure): number {
  return refold ? measure.width(t("box.refold", { what: refold }), "sublabel") + REFOLD_GAP_PX : 0;
}
