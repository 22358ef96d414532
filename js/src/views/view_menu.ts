/** The view menu: switches and rarer commands. */
import type { Store } from "../model/store.ts";
import { menuItem, menuLine, mountMenu } from "./menu.ts";

/**
 * @param root a `.pdl-menu` element
 * @returns what takes the menu down
 */
export function mountViewMenu(root: HTMLElement, store: Store): () => void {
  const check = (
    label: string,
    name: "showShapes" | "showNorms" | "showParameters" | "showOptimizer" | "outlineOpen",
  ): HTMLElement => {
    const isChecked = store.state[name];
    return menuItem(label, () => store.update({ [name]: !isChecked }), { isChecked });
  };
  // Of the memory's view none but the outline says or does anything.
  const graphItems = (): (HTMLElement | false)[] => [
    menuItem("Open all groups", () => store.openAll(), { isEnabled: !store.isAllOpen }),
    menuItem("Close all groups", () => store.closeAll(), { isEnabled: !store.isAllClosed }),
    menuItem("Fold repeats", () => store.update({ unfolded: new Set(), taken: new Set() }), {
      isEnabled: store.state.unfolded.size + store.state.taken.size > 0,
    }),
    menuItem("Undo", () => store.undo(), { isEnabled: store.canUndo, note: "Ctrl+Z" }),
    menuItem("Redo", () => store.redo(), { isEnabled: store.canRedo, note: "Ctrl+Y" }),
    menuLine(),
    check("Shapes on edges", "showShapes"),
    store.gradients.isRecorded && check("Gradient norms on edges", "showNorms"),
    check("Parameters and inputs as boxes", "showParameters"),
    check("Optimizer ops", "showOptimizer"),
  ];
  return mountMenu(root, "View", () => [
    ...(store.state.mode === "memory" ? [] : graphItems()),
    check("Outline", "outlineOpen"),
  ]).dispose;
}
