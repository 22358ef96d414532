/** The palette of theme.css as plain colours, for canvas and SVG, where CSS has no effect. */

export const COLOUR_NAMES = [
  "bg",
  "ink",
  "soft",
  "line",
  "panel",
  "frame",
  "chip",
  "forward",
  "backward",
  "optimizer",
  "leaf",
  "warn",
  "caution",
  "lit",
  "select",
  "detach",
] as const;

export type ColourName = (typeof COLOUR_NAMES)[number];

/** Colours as `#rrggbb` or `#rrggbbaa`, and font families as CSS lists. */
export type Theme = Record<ColourName, string> & { font: string; mono: string };

/** Reads the current palette of `app` (the `.pdl-app` element, attached to the document). */
export function readTheme(app: HTMLElement): Theme {
  // A custom property may still contain var() or color-mix(). A standard property is resolved.
  const probe = document.createElement("span");
  probe.hidden = true;
  app.append(probe);
  const style = getComputedStyle(probe);
  const theme: Record<string, string> = {};
  for (const name of COLOUR_NAMES) {
    probe.style.color = `var(--pdl-${name})`;
    theme[name] = hexColour(style.color);
  }
  theme.font = fontIn(style);
  theme.mono = style.getPropertyValue("--pdl-mono").trim() || "monospace";
  probe.remove();
  return theme as Theme;
}

/** The font of the views' text, for code that runs before a view exists. */
export function readFont(): string {
  const probe = document.createElement("div");
  probe.className = "pdl-app";
  probe.hidden = true;
  document.body.append(probe);
  const font = fontIn(getComputedStyle(probe));
  probe.remove();
  return font;
}

function fontIn(style: CSSStyleDeclaration): string {
  return style.getPropertyValue("--pdl-font").trim() || "sans-serif";
}

/**
 * Call `listener` when the page changes between light and dark. Returns a function that ends this.
 */
export function watchTheme(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.body, {
    attributeFilter: [
      "data-jp-theme-light",
      "data-jp-theme-name",
      "data-vscode-theme-kind",
      "class",
    ],
  });
  const query = matchMedia("(prefers-color-scheme: dark)");
  query.addEventListener("change", listener);
  return () => {
    observer.disconnect();
    query.removeEventListener("change", listener);
  };
}

/** Converts `rgb(1, 2, 3)`, `rgba(1, 2, 3, 0.5)` or `color(srgb 0 0.5 1 / 0.5)` to hexadecimal. */
export function hexColour(resolved: string): string {
  const numbers = resolved.match(/-?[\d.]+(?:e-?\d+)?/g)?.map(Number) ?? [];
  const scale = resolved.startsWith("color(") ? 255 : 1;
  const channels = [0, 1, 2].map((index) => (numbers[index] ?? 0) * scale);
  if ((numbers[3] ?? 1) < 1) channels.push(numbers[3]! * 255);
  const hex = (value: number) =>
    Math.max(0, Math.min(255, Math.round(value)))
      .toString(16)
      .padStart(2, "0");
  return `#${channels.map(hex).join("")}`;
}
