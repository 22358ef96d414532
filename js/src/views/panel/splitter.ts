/** The panel's left edge: dragged, or moved with the arrow keys. */

import { element } from "../../dom/element.ts";
import { t } from "../../words/page.ts";

const START_PX = 360;
const NARROWEST_PX = 260;
const WIDEST_PX = 900;
const STEP_PX = 24;

export function mountSplitter(panel: HTMLElement): () => void {
  const splitter = element("div", {
    class: "pdl-splitter",
    role: "separator",
    "aria-orientation": "vertical",
    "aria-label": t("panel.width"),
    "aria-valuemin": NARROWEST_PX,
    "aria-valuemax": WIDEST_PX,
    "aria-valuenow": START_PX,
    tabindex: 0,
  });
  splitter.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    splitter.setPointerCapture(event.pointerId);
    // The actual width may be less than the requested width.
    const start_px = panel.getBoundingClientRect().width + event.clientX;
    const move = (moved: PointerEvent) => setWidth(start_px - moved.clientX);
    splitter.addEventListener("pointermove", move);
    const stop = () => splitter.removeEventListener("pointermove", move);
    splitter.addEventListener("lostpointercapture", stop, { once: true });
  });
  // Restore the width of the style sheet.
  splitter.addEventListener("dblclick", () => {
    panel.style.removeProperty("--pdl-panel-width");
    splitter.setAttribute("aria-valuenow", String(START_PX));
  });
  splitter.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: STEP_PX, ArrowRight: -STEP_PX }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    setWidth(panel.getBoundingClientRect().width + step);
  });
  panel.append(splitter);

  function setWidth(asked_px: number): void {
    const width_px = Math.round(Math.min(WIDEST_PX, Math.max(NARROWEST_PX, asked_px)));
    panel.style.setProperty("--pdl-panel-width", `${width_px}px`);
    splitter.setAttribute("aria-valuenow", String(width_px));
  }

  return () => splitter.remove();
}
