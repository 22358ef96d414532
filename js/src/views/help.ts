/** The overlay that explains the picture and its keys. */
import { button, element } from "./element.ts";
import { legend } from "./legend.ts";

const KEYS: readonly (readonly [keys: string, meaning: string])[] = [
  ["← ↑ ↓ →", "go to the next box that way"],
  ["[ ]", "previous, next op in the order they ran"],
  ["Enter", "open or close the group"],
  ["Shift+Enter", "open one of a fold of repeats"],
  ["p", "go to the paired op or grad node"],
  ["e", "the next finding in the graph; Shift+e the one before"],
  ["Escape", "let go of the selection"],
  ["/", "search; Enter and Shift+Enter step through"],
  ["1 2 3 4", "forward, backward, ladder, memory"],
  ["m", "in the timeline: the peak; arrows move the moment, Shift+arrows a span"],
  ["Enter", "in the timeline: zoom to the span, or to the selected block"],
  ["f", "fit the picture"],
  ["+ −", "zoom; so does the wheel, drag moves"],
  ["Ctrl+Z", "take back opening, closing and switching"],
  ["?", "this help"],
];

/** @param app the `.pdl-app` element; the focus goes back to where it was when the help is closed */
export function openHelp(app: HTMLElement): void {
  if (app.querySelector(".pdl-help")) return;
  const before = document.activeElement;
  const close = button("×", () => dismiss(), {
    class: "pdl-button pdl-quiet pdl-icon pdl-close",
    "aria-label": "Close help",
  });
  const dialog = element(
    "div",
    {
      class: "pdl-scroll",
      role: "dialog",
      "aria-modal": "true",
      "aria-label": "Help",
      tabindex: -1,
      onkeydown: press,
    },
    element("h2", {}, "How to read it"),
    close,
    element(
      "div",
      { class: "pdl-help-columns" },
      element("section", {}, element("h3", {}, "In the picture"), legend()),
      element("section", {}, element("h3", {}, "Keys"), keyTable()),
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
    // The only thing to focus inside is the button: Tab stays there.
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
      element("dd", {}, meaning),
    );
  }
  return table;
}
