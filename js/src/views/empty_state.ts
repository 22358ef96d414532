/** The text in place of an empty picture: why the picture is empty, and what to do. */

import { button, element } from "../dom/element.ts";
import type { Store } from "../model/state/store.ts";
import { t } from "../words/page.ts";
import type { Scene } from "./scene/scene.ts";

/** @returns the element to show instead of the picture; undefined if there is a picture */
export function emptyState(store: Store, scene: Scene): HTMLElement | undefined {
  if (scene.boxes.length) {
    return undefined;
  }
  const { trace, state } = store;
  if (!trace.opCount) {
    return note(t("empty.no_op"), t("empty.no_op_advice"));
  }
  if (state.mode !== "forward") {
    return note(
      t("empty.no_backward"),
      t("empty.no_backward_advice"),
      button(t("empty.show_forward"), () => store.update({ mode: "forward" })),
    );
  }
  if (!state.showOptimizer) {
    return note(
      t("empty.only_optimizer"),
      t("empty.only_optimizer_advice"),
      button(t("empty.show_optimizer"), () => store.update({ showOptimizer: true })),
    );
  }
  return note(t("empty.nothing"), "");
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
