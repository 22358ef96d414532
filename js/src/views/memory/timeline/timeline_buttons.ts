/** Zoom and Fit, over the timeline. */

import { button, element } from "../../../dom/element.ts";
import { t } from "../../../words/page.ts";
import type { TimelineMoves } from "./pointer.ts";

const ZOOM_STEP = 1.5;

export function timelineButtons(timeline: Pick<TimelineMoves, "zoomBy" | "fit">): HTMLElement {
  const icon = (label: string, title: string, act: () => void): HTMLButtonElement =>
    button(label, act, { class: "pdl-button pdl-icon", title, "aria-label": title });
  return element(
    "div",
    { class: "pdl-timeline-buttons" },
    icon("−", t("app.zoom_out"), () => timeline.zoomBy(1 / ZOOM_STEP)),
    icon("+", t("app.zoom_in"), () => timeline.zoomBy(ZOOM_STEP)),
    button(t("app.fit"), () => timeline.fit(), { title: t("memory.fit_title") }),
  );
}
