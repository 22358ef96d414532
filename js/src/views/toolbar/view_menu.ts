/** The view menu: switches and less common commands. */

import { menuItem, menuLine, mountMenu } from "../../dom/menu.ts";
import type { Store } from "../../model/state/store.ts";
import { isGraph } from "../../model/state/view_state.ts";
import { t } from "../../words/page.ts";

/**
 * @param root a `.pdl-menu` element
 * @returns a function that removes the menu
 */
export function mountViewMenu(root: HTMLElement, store: Store): () => void {
  const check = (
    label: string,
    name: "showShapes" | "showNorms" | "showParameters" | "showOptimizer" | "outlineOpen",
  ): HTMLElement => {
    const isChecked = store.state[name];
    return menuItem(label, () => store.update({ [name]: !isChecked }), { isChecked });
  };
  // Without a graph, only the item of the outline has an effect.
  const graphItems = (): (HTMLElement | false)[] => [
    menuItem(t("view_menu.open_all"), () => store.openAll(), { isEnabled: !store.isAllOpen }),
    menuItem(t("view_menu.close_all"), () => store.closeAll(), { isEnabled: !store.isAllClosed }),
    menuItem(
      t("view_menu.fold_repeats"),
      () => store.update({ unfolded: new Set(), taken: new Set() }),
      {
        isEnabled: store.state.unfolded.size + store.state.taken.size > 0,
      },
    ),
    menuItem(t("view_menu.undo"), () => store.undo(), { isEnabled: store.canUndo, note: "Ctrl+Z" }),
    menuItem(t("view_menu.redo"), () => store.redo(), { isEnabled: store.canRedo, note: "Ctrl+Y" }),
    menuLine(),
    check(t("view_menu.shapes"), "showShapes"),
    store.gradients.isRecorded && check(t("view_menu.norms"), "showNorms"),
    check(t("view_menu.parameters"), "showParameters"),
    check(t("view_menu.optimizer"), "showOptimizer"),
  ];
  return mountMenu(root, t("view_menu.view"), () => [
    ...(isGraph(store.state.mode) ? graphItems() : []),
    check(t("view_menu.outline"), "outlineOpen"),
  ]).dispose;
}
