/** One source line: its number, its coloured text, an underline below the part that ran. */
import { element } from "../../dom/element.ts";
import type { TintedSpan } from "./python_tint.ts";

export interface ColumnRange {
  readonly start: number;
  readonly end: number;
}

/** The text of a line as spans; `underlined` may cut through tinted spans. */
export function codeText(
  text: string,
  tints: readonly TintedSpan[],
  underlined?: ColumnRange,
): HTMLElement {
  const code = element("span");
  const cuts = new Set([0, text.length]);
  for (const { start, end } of [...tints, ...(underlined ? [underlined] : [])]) {
    cuts.add(Math.min(start, text.length)).add(Math.min(end, text.length));
  }
  const sorted = [...cuts].sort((a, b) => a - b);
  for (let piece = 0; piece + 1 < sorted.length; piece++) {
    const start = sorted[piece]!;
    const content = text.slice(start, sorted[piece + 1]);
    const tint = tints.find((span) => span.start <= start && start < span.end)?.tint;
    const isUnderlined = underlined && underlined.start <= start && start < underlined.end;
    const node = tint ? element("span", { class: `pdl-${tint}` }, content) : content;
    code.append(isUnderlined ? element("u", {}, node) : node);
  }
  // An empty line keeps its height.
  if (!text) code.append("\u200b");
  return code;
}

export function codeLine(number: number, code: HTMLElement, isLit: boolean): HTMLElement {
  return element(
    "div",
    { class: isLit ? "pdl-code-line pdl-lit" : "pdl-code-line", "data-line": number },
    element("span", { class: "pdl-number" }, String(number)),
    code,
  );
}
