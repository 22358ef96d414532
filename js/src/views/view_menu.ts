/** The view menu: switches and rarer commands. */
import type { Store } from "../model/store.ts";
import { button, element } from "./element.ts";

/**
 * @param root a `.pdl-menu` element
 * @returns what takes the menu down
 */
export function mountViewMenu(root: HTMLElement, store: Store): () => void {
  const toggle = button("View", () => show(!!list.hidden), {
    "aria-haspopup": "menu",
    "aria-expanded": "false",
  });
  const list = element("div", {
    class: "pdl-float",
    role: "menu",
    "aria-label": "View",
    hidden: true,
  });
  root.append(toggle, list);

  function items(): HTMLElement[] {
    const { state } = store;
    const runs = state.unfolded.size > 0;
    return [
      item("Open all groups", () => store.openAll()),
      item("Close all groups", () => store.closeAll()),
      item("Fold repeats", () => store.update({ unfolded: new Set() }), { enabled: runs }),
      item("Undo", () => store.undo(), { enabled: store.canUndo, key: "Ctrl+Z" }),
      item("Redo", () => store.redo(), { enabled: store.canRedo, key: "Ctrl+Y" }),
      element("div", { role: "separator" }),
      check("Shapes on edges", "showShapes"),
      check("Parameters and inputs as boxes", "showParameters"),
      check("Optimizer ops", "showOptimizer"),
      check("Outline", "outlineOpen"),
    ];
  }

  function item(
    label: string,
    act: () => void,
    options: { enabled?: boolean; key?: string; checked?: boolean } = {},
  ): HTMLElement {
    const { enabled = true, key = "", checked } = options;
    const made = button(
      checked === undefined ? label : `${checked ? "✓" : "\u2003"} ${label}`,
      () => {
        show(false);
        toggle.focus();
        act();
      },
      {
        class: undefined,
        role: checked === undefined ? "menuitem" : "menuitemcheckbox",
        "aria-checked": checked === undefined ? undefined : String(checked),
        tabindex: "-1",
        disabled: !enabled,
      },
      key,
    );
    return made;
  }

  function check(
    label: string,
    name: "showShapes" | "showParameters" | "showOptimizer" | "outlineOpen",
  ): HTMLElement {
    const checked = store.state[name];
    return item(label, () => store.update({ [name]: !checked }), { checked });
  }

  function show(isShown: boolean): void {
    if (isShown) {
      list.replaceChildren(...items());
    }
    list.hidden = !isShown;
    toggle.setAttribute("aria-expanded", String(isShown));
    if (isShown) {
      list.querySelector<HTMLElement>("button:enabled")?.focus();
    }
  }

  const press = (event: KeyboardEvent): void => {
    if (list.hidden) {
      return;
    }
    const all = [...list.querySelectorAll<HTMLElement>("button:enabled")];
    const at = all.indexOf(document.activeElement as HTMLElement);
    const steps: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1 + all.length,
      Home: 0,
      End: all.length - 1,
    };
    if (event.key in steps) {
      all[steps[event.key]! % all.length]!.focus();
      event.preventDefault();
    } else if (event.key === "Escape") {
      show(false);
      toggle.focus();
      event.preventDefault();
    }
    event.stopPropagation();
  };
  const leave = (event: FocusEvent): void => {
    if (!root.contains(event.relatedTarget as Node | null)) {
      show(false);
    }
  };
  root.addEventListener("keydown", press);
  root.addEventListener("focusout", leave);
  return () => {
    root.removeEventListener("keydown", press);
    root.removeEventListener("focusout", leave);
    root.replaceChildren();
  };
}
