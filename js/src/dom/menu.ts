/** A button that opens a menu, for pointer and keyboard. */
import { button, element } from "./element.ts";

export interface Menu {
  readonly toggle: HTMLButtonElement;
  dispose(): void;
}

/**
 * @param root a `.pdl-menu` element
 * @param items returns the items when the menu opens; make them with `menuItem`
 */
export function mountMenu(
  root: HTMLElement,
  label: string,
  items: () => (HTMLElement | false)[],
): Menu {
  const toggle = button(label, () => show(list.hidden !== false), {
    "aria-haspopup": "menu",
    "aria-expanded": "false",
  });
  const list = element("div", {
    class: "pdl-float",
    role: "menu",
    "aria-label": label,
    hidden: true,
    onclick(event: Event) {
      if ((event.target as Element).closest("button")) {
        show(false);
        toggle.focus();
      }
    },
  });
  root.append(toggle, list);
  root.addEventListener("keydown", press);
  root.addEventListener("focusout", leave);

  function show(isShown: boolean): void {
    if (isShown) list.replaceChildren(...items().filter((item) => item !== false));
    list.hidden = !isShown;
    toggle.setAttribute("aria-expanded", String(isShown));
    if (!isShown) return;
    keepInside(list);
    list.querySelector<HTMLElement>("button:enabled")?.focus();
  }

  function press(event: KeyboardEvent): void {
    if (list.hidden) return;
    // An open menu handles all keys. No key triggers a command of the app.
    event.stopPropagation();
    const all = [...list.querySelectorAll<HTMLElement>("button:enabled")];
    const at = all.indexOf(document.activeElement as HTMLElement);
    const steps: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: all.length - 1,
    };
    if (event.key in steps) all.at(steps[event.key]! % all.length)?.focus();
    else if (event.key === "Escape") {
      show(false);
      toggle.focus();
    } else return;
    event.preventDefault();
  }

  function leave(event: FocusEvent): void {
    if (!root.contains(event.relatedTarget as Node | null)) show(false);
  }

  return {
    toggle,
    dispose() {
      root.removeEventListener("keydown", press);
      root.removeEventListener("focusout", leave);
      root.replaceChildren();
    },
  };
}

/**
 * @param options.isChecked makes the item a switch
 * @param options.note text at the right end of the item, such as a key
 */
export function menuItem(
  label: string,
  act: () => void,
  options: { isEnabled?: boolean; isChecked?: boolean; note?: string } = {},
): HTMLElement {
  const { isEnabled = true, isChecked, note } = options;
  const isSwitch = isChecked !== undefined;
  return button(
    isSwitch ? `${isChecked ? "✓" : "\u2003"} ${label}` : label,
    act,
    {
      class: undefined,
      role: isSwitch ? "menuitemcheckbox" : "menuitem",
      "aria-checked": isSwitch ? String(isChecked) : undefined,
      tabindex: "-1",
      disabled: !isEnabled,
    },
    note,
  );
}

export function menuLine(): HTMLElement {
  return element("div", { role: "separator" });
}

/** Align a list with the left end of its parent, if the list would leave the app on the right. */
export function keepInside(list: HTMLElement): void {
  list.classList.remove("pdl-flipped");
  const app = list.closest(".pdl-app");
  const isOutside = !!app && list.getBoundingClientRect().left < app.getBoundingClientRect().left;
  list.classList.toggle("pdl-flipped", isOutside);
}
