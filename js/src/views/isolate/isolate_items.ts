/** The ways to isolate a part of the graph: buttons in the panel. */

import { button, element } from "../../dom/element.ts";
import type { Store } from "../../model/state/store.ts";
import { t } from "../../words/page.ts";
import { beginWay, canIsolate, isolateSelection } from "../actions/isolating.ts";

interface Item {
  readonly name: "ancestors" | "descendants" | "way" | "neighbours";
  readonly key: string;
  act(): void;
}

function itemsOf(store: Store): Item[] {
  const isolate = (name: "ancestors" | "descendants" | "neighbours", key: string): Item => ({
    name,
    key,
    act: () => isolateSelection(store, name),
  });
  return [
    isolate("ancestors", "u"),
    isolate("descendants", "d"),
    { name: "way", key: "w", act: () => beginWay(store) },
    isolate("neighbours", "l"),
  ];
}

/** A row of small buttons for the selection; none if nothing of the graph is selected. */
export function isolateButtons(store: Store): HTMLElement[] {
  if (!canIsolate(store)) return [];
  return [
    element(
      "div",
      { class: "pdl-isolate-row", role: "group", "aria-label": t("isolate.show_only") },
      element("span", {}, t("isolate.show_only")),
      ...itemsOf(store).map(({ name, key, act }) =>
        button(t(`isolate.${name}`), act, {
          class: "pdl-chip",
          title: `${t(`isolate.${name}_title`)} (${key})`,
          "data-focus": `isolate-${name}`,
        }),
      ),
    ),
  ];
}
