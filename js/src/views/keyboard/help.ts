/** The overlay that explains the picture and its keys. */

import { button, element } from "../../dom/element.ts";
import { type PageKey, t } from "../../words/page.ts";
import { legend } from "./legend.ts";

const KEYS: readonly (readonly [keys: string, meaning: PageKey])[] = [
  ["← ↑ ↓ →", "help.key_arrows"],
  ["[ ]", "help.key_ops"],
  ["Enter", "help.key_group"],
  ["Shift+Enter", "help.key_fold"],
  ["p", "help.key_pair"],
  ["v", "help.key_value"],
  ["e", "help.key_finding"],
  ["n", "help.key_difference"],
  ["u d", "help.key_isolate"],
  ["w", "help.key_way"],
  ["l", "help.key_layer"],
  ["Escape", "help.key_escape"],
  ["/", "help.key_search"],
  ["1 2 3 4 5 6", "help.key_modes"],
  ["m", "help.key_peak"],
  ["Enter", "help.key_zoom_span"],
  ["Backspace", "help.key_zoom_time"],
  ["trace.to_speedscope(path)", "help.speedscope"],
  ["f", "help.key_fit"],
  ["+ −", "help.key_zoom"],
  ["Ctrl+Z", "help.key_undo"],
  ["?", "help.key_help"],
];

/** @param app the `.pdl-app` element, which gets the focus again when the help is closed */
export function openHelp(app: HTMLElement): void {
  if (app.querySelector(".pdl-help")) return;
  const before = document.activeElement;
  const close = button("×", () => dismiss(), {
    class: "pdl-button pdl-quiet pdl-icon pdl-close",
    "aria-label": t("help.close"),
  });
  const dialog = element(
    "div",
    {
      class: "pdl-scroll",
      role: "dialog",
      "aria-modal": "true",
      "aria-label": t("toolbar.help"),
      tabindex: -1,
      onkeydown: press,
    },
    element("h2", {}, t("help.title")),
    close,
    element(
      "div",
      { class: "pdl-help-columns" },
      element("section", {}, element("h3", {}, t("help.picture")), legend()),
      element("section", {}, element("h3", {}, t("help.keys")), keyTable()),
    ),
  );
  const overlay = element(
    "div",
    {
      class: "pdl-help",
      onpointerdown: (event: PointerEvent) => {
        if (event.target === overlay) dismiss();
      },
    },
    dialog,
  );
  app.append(overlay);
  dialog.focus();

  function press(event: KeyboardEvent): void {
    event.stopPropagation();
    // Only this button inside the help can have the focus, so Tab stays on the button.
    if (event.key === "Tab") close.focus();
    else if (event.key === "Escape" || event.key === "?") dismiss();
    else return;
    event.preventDefault();
  }

  function dismiss(): void {
    overlay.remove();
    if (before instanceof HTMLElement) before.focus();
  }
}

function keyTable(): HTMLElement {
  const table = element("dl");
  for (const [keys, meaning] of KEYS) {
    const names = keys.split(" ").map((key) => element("kbd", {}, key));
    table.append(
      element("dt", {}, ...names.flatMap((name) => [name, " "])),
      element("dd", {}, t(meaning)),
    );
  }
  return table;
}
