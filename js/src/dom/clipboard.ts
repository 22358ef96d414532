/** Copies text. Without HTTPS a page has no clipboard API, so `execCommand` is used. */

import { t } from "../words/page.ts";
import { button, element } from "./element.ts";

export async function copyText(text: string, near: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = element("textarea", { class: "pdl-visually-hidden", "aria-hidden": "true" });
    area.value = text;
    const focused = document.activeElement;
    near.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return done;
  }
}

/** A button that copies the result of `text`, and then confirms it. */
export function copyButton(label: string, text: () => string): HTMLButtonElement {
  const copy = button(
    label,
    async () => {
      const done = await copyText(text(), copy.parentElement ?? document.body);
      copy.textContent = done ? t("clipboard.copied") : t("clipboard.not_allowed");
      setTimeout(() => {
        copy.textContent = label;
      }, 1400);
    },
    { class: "pdl-button", "aria-live": "polite" },
  );
  return copy;
}
