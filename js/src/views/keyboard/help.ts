/** The overlay that explains the picture and its keys. */

import { button, element } from "../../dom/element.ts";
import { svgElement } from "../../dom/svg_element.ts";
import { type PageKey, t } from "../../words/page.ts";

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

/** Shapes of the samples: SVG path data in a field of 46 by 24 px. */
const SHAPES = {
  box: "M9 4h28q5 0 5 5v6q0 5-5 5H9q-5 0-5-5V9q0-5 5-5z",
  inner: "M9 7h28q2 0 2 2v6q0 2-2 2H9q-2 0-2-2V9q0-2 2-2z",
  chip: "M18 4h10a8 8 0 0 1 0 16H18a8 8 0 0 1 0-16z",
  ring: "M9 1h28q8 0 8 8v6q0 8-8 8H9q-8 0-8-8V9q0-8 8-8z",
  under: "M7 20q1 3 5 3h22q4 0 5-3",
  sign: "M10 8.5l4 3.5l-4 3.5",
  line: "M4 12h38",
  octagon: "M7 6h4l3 3v4l-3 3H7l-3-3V9z",
  triangle: "M23 5l6 11H17z",
  disc: "M38 6a5 5 0 1 0 0 10a5 5 0 1 0 0-10z",
  stub: "M4 12h38",
  cut: "M18 18l5-12m1 12l5-12",
} as const;

type Sample = `${keyof typeof SHAPES}${"" | ` ${string}`}`;

/** Each shape with the classes of overlays.css that give it colour, fill and dashes. */
const SAMPLES: readonly (readonly [meaning: PageKey, ...shapes: Sample[]])[] = [
  ["legend.op", "box forward"],
  ["legend.grad_node", "box backward"],
  ["legend.optimizer", "box optimizer"],
  ["legend.layer", "box forward full", "sign forward"],
  ["legend.fold", "under forward", "box forward full", "sign forward"],
  ["legend.pylayer", "box forward", "inner forward"],
  ["legend.region", "box soft dashed"],
  ["legend.parameter", "chip leaf"],
  ["legend.data", "chip soft dashed"],
  ["legend.raised", "box warn full"],
  ["legend.findings", "octagon warn full", "triangle caution full", "disc soft full"],
  ["legend.cut", "stub detach dotted", "cut warn"],
  ["legend.selected", "ring select", "box forward lit"],
  ["legend.lit", "box forward lit"],
  ["legend.found", "ring soft dashed", "box forward"],
  ["legend.tensor", "line forward"],
  ["legend.gradient", "line backward"],
  ["legend.detached", "line detach dotted"],
];

function legend(): HTMLElement {
  const rows = element("dl");
  for (const [meaning, ...shapes] of SAMPLES) {
    rows.append(element("dt", {}, sample(shapes)), element("dd", {}, t(meaning)));
  }
  return rows;
}

function sample(shapes: readonly Sample[]): SVGElement {
  const paths = shapes.map((shape) => {
    const [name, colour, ...looks] = shape.split(" ");
    const path = svgElement("path", {
      d: SHAPES[name as keyof typeof SHAPES],
      class: [name, ...looks].map((look) => `pdl-${look}`).join(" "),
    });
    path.style.color = `var(--pdl-${colour})`;
    return path;
  });
  return svgElement("svg", { class: "pdl-sample", "aria-hidden": "true" }, ...paths);
}
