/** The menu of the picture, at the pointer or at the selection. */
import { element } from "../../dom/element.ts";
import { mountMenu } from "../../dom/menu.ts";
import type { Store } from "../../model/state/store.ts";
import { t } from "../../words/page.ts";
import { selectionOfHit } from "../actions/selecting.ts";
import type { GraphCanvas } from "../picture/canvas.ts";
import { isolateMenu } from "./isolate_items.ts";

/** The room that the menu needs, in CSS px. */
const ROOM = { width: 290, height: 190 };

/**
 * @param opens is called before the menu opens
 * @returns a function that removes the menu
 */
export function mountContextMenu(
  app: HTMLElement,
  canvas: GraphCanvas,
  store: Store,
  opens: () => void,
): () => void {
  const root = element("div", { class: "pdl-menu pdl-context" });
  const menu = mountMenu(root, t("isolate.show_only"), () => isolateMenu(store));
  menu.toggle.classList.add("pdl-visually-hidden");
  menu.toggle.tabIndex = -1;
  menu.toggle.setAttribute("aria-hidden", "true");
  // A closing menu focuses its button, which is invisible here: focus the picture instead.
  menu.toggle.addEventListener("focus", () => canvas.element.focus({ preventScroll: true }));
  app.append(root);

  const open = (event: MouseEvent): void => {
    // The keyboard's menu key has no position, so the menu is for the selection.
    const isFromKeys = event.button !== 2;
    if (!isFromKeys) {
      const selection = selectionOfHit(canvas.hitAtPoint(event.clientX, event.clientY));
      if (selection.kind !== "none") store.select(selection);
    }
    if (store.state.selection.kind === "none" && !store.state.isolation) return;
    event.preventDefault();
    event.stopPropagation();
    opens();
    const [around, own] = [app.getBoundingClientRect(), canvas.element.getBoundingClientRect()];
    const x = isFromKeys ? own.left + own.width / 2 - ROOM.width / 2 : event.clientX;
    const y = isFromKeys ? own.top + 24 : event.clientY;
    const within = (at: number, end: number): number => Math.max(4, Math.min(at, end));
    root.style.left = `${within(x - around.left, around.width - ROOM.width)}px`;
    root.style.top = `${within(y - around.top, around.height - ROOM.height)}px`;
    if (menu.toggle.getAttribute("aria-expanded") === "true") menu.toggle.click();
    menu.toggle.click();
  };
  canvas.element.addEventListener("contextmenu", open);
  return () => {
    canvas.element.removeEventListener("contextmenu", open);
    menu.dispose();
    root.remove();
  };
}
