/** The menu that chooses what the boxes are coloured by. */
import { menuItem, menuLine, mountMenu } from "../../dom/menu.ts";
import { comparisonOf } from "../../model/graph/comparison.ts";
import type { Store } from "../../model/state/store.ts";
import {
  COLOURINGS,
  type Colouring,
  isGraph,
  type ViewState,
} from "../../model/state/view_state.ts";
import { t } from "../../words/page.ts";

/**
 * @param root a `.pdl-menu` element
 * @returns a function that removes the menu
 */
export function mountColourMenu(root: HTMLElement, store: Store): () => void {
  const item = (name: Colouring | "none", why = ""): HTMLElement => {
    const made = menuItem(t(`colour.${name}`), () => store.update({ colourBy: name }), {
      isChecked: store.state.colourBy === name,
      isEnabled: !why,
      note: why,
    });
    made.setAttribute("role", "menuitemradio");
    if (why) made.title = why;
    return made;
  };
  const menu = mountMenu(root, t("colour.menu"), () => [
    item("none"),
    menuLine(),
    ...COLOURINGS.filter((name) => name !== "difference" || comparisonOf(store.trace)).map((name) =>
      item(name, missing(store, name)),
    ),
  ]);
  menu.toggle.title = t("colour.menu_title");
  const render = ({ mode, colourBy }: ViewState): void => {
    root.hidden = !isGraph(mode);
    menu.toggle.setAttribute("aria-pressed", String(colourBy !== "none"));
  };
  const unsubscribe = store.subscribe(render);
  render(store.state);
  return () => {
    unsubscribe();
    menu.dispose();
  };
}

/** Why the boxes of the picture cannot be coloured by a quantity; "" if this is possible. */
function missing({ trace, gradients, state }: Store, name: Colouring): string {
  const isBackward = state.mode === "backward";
  switch (name) {
    case "dtype":
    case "difference":
      return "";
    case "time":
    case "parameters":
      return isBackward ? t("colour.only_ops") : "";
    case "output_bytes":
    case "saved_bytes":
      return isBackward
        ? t("colour.only_ops")
        : trace.table("op_costs").length
          ? ""
          : t("colour.no_costs");
    case "flops":
      return trace.table(isBackward ? "grad_node_costs" : "op_costs").length
        ? ""
        : t("colour.no_costs");
    case "gradient_norm":
      return gradients.isRecorded ? "" : t("colour.needs_gradients");
    case "nan_share": {
      const isRecorded = isBackward ? gradients.isRecorded : trace.table("value_stats").length > 0;
      return isRecorded ? "" : t(isBackward ? "colour.needs_gradients" : "colour.needs_values");
    }
  }
}
