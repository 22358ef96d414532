/** Where there is nothing to draw: why, and what to do. */
import type { Store } from "../model/store.ts";
import { button, element } from "./element.ts";
import type { Scene } from "./scene/scene.ts";

/** @returns what to show instead of the picture, undefined where there is one */
export function emptyState(store: Store, scene: Scene): HTMLElement | undefined {
  if (scene.boxes.length) {
    return undefined;
  }
  const { trace, state } = store;
  if (!trace.opCount) {
    return note(
      "This cell ran no Paddle op.",
      "A trace shows what Paddle computes while the cell runs: call a layer or a paddle function in it.",
    );
  }
  if (state.mode !== "forward") {
    return note(
      "No backward graph: no op here needs a gradient, or backward was never called.",
      "Parameters need gradients by themselves; for other tensors set stop_gradient = False.",
      button("Show the forward graph", () => store.update({ mode: "forward" })),
    );
  }
  if (!state.showOptimizer) {
    return note(
      "Only optimizer ops ran here.",
      "They are folded away unless asked for.",
      button("Show optimizer ops", () => store.update({ showOptimizer: true })),
    );
  }
  return note("Nothing to draw here.", "");
}

function note(title: string, advice: string, action?: HTMLElement): HTMLElement {
  return element(
    "div",
    { class: "pdl-empty" },
    element("strong", {}, title),
    !!advice && element("p", {}, advice),
    action,
  );
}
