/** The call stack in the panel. */

import { copyButton } from "../../dom/clipboard.ts";
import { button, element } from "../../dom/element.ts";
import { t } from "../../words/page.ts";
import type { PanelContext } from "../facts/context.ts";
import { frameLabel, orderStack, stackText } from "../names/stack_order.ts";
import { type ColumnRange, codeLine, codeText } from "./code_line.ts";
import { tintPython } from "./python_tint.ts";

const LINES_AROUND = 2;
const EDGE_PX = 12;
/** Recursive code has stacks of a thousand frames. */
const MOST_FRAMES = 60;

/** @param frames frame keys, innermost first */
export function renderStack(
  context: PanelContext,
  frames: readonly number[],
  title = t("stack.title"),
): HTMLElement {
  const { trace } = context;
  const section = element("section", { class: "pdl-stack", "aria-label": title });
  section.append(
    element(
      "h3",
      {},
      title,
      element("span"),
      frames.length > 0 && copyButton(t("clipboard.copy"), () => stackText(trace, frames)),
    ),
  );
  if (frames.length === 0) {
    section.append(element("p", { class: "pdl-soft" }, t("stack.none")));
    return section;
  }
  const { own, library, paddle } = orderStack(trace, frames);
  own.slice(0, MOST_FRAMES).forEach((frame, index) => {
    section.append(frameHead(context, frame));
    if (index === 0) section.append(snippet(context, frame) ?? "");
  });
  section.append(
    fold(context, own.slice(MOST_FRAMES), "own") ?? "",
    fold(context, paddle, "paddle") ?? "",
    fold(context, library, "library") ?? "",
  );
  return section;
}

function frameHead(context: PanelContext, frame: number): HTMLElement {
  const { trace } = context;
  const file = trace.textAt("frames", "file", frame);
  const name = trace.textAt("frames", "function", frame);
  return element(
    "div",
    { class: "pdl-frame-head" },
    button(frameLabel(trace, frame), () => context.openFrame(frame), {
      class: "pdl-link",
      title: t("stack.show", { file }),
    }),
    !!name && element("small", { title: name }, t("stack.in", { name })),
  );
}

function fold(
  context: PanelContext,
  frames: readonly number[],
  where: "own" | "paddle" | "library",
): HTMLElement | undefined {
  if (frames.length === 0) return undefined;
  const details = element(
    "details",
    {},
    element("summary", {}, t(`stack.${where}`, { n: frames.length })),
  );
  details.addEventListener(
    "toggle",
    () => details.append(...frames.map((frame) => frameHead(context, frame))),
    { once: true },
  );
  return details;
}

/** The source around a frame, without its indent: the line highlighted, the running part underlined. */
function snippet({ trace }: PanelContext, frame: number): HTMLElement | undefined {
  const source = trace.sourceOf(frame);
  if (!source) return undefined;
  const line = trace.at("frames", "line", frame);
  const end = Math.max(line, trace.at("frames", "end_line", frame));
  const first = Math.max(source.firstLine, line - LINES_AROUND);
  const last = Math.min(source.firstLine + source.lines.length - 1, line + LINES_AROUND);
  const tints = tintPython(source.lines);
  const shown = source.lines.slice(first - source.firstLine, last + 1 - source.firstLine);
  const indent = Math.min(...shown.filter((text) => text.trim()).map(indentOf));
  const box = element("div", {
    class: "pdl-source pdl-scroll",
    // Long lines are scrolled with the arrow keys.
    tabindex: 0,
    role: "group",
    "aria-label": t("source.around", { line }),
    style: `--pdl-digits:${String(last).length}`,
  });
  shown.forEach((text, index) => {
    const number = first + index;
    const isLit = number >= line && number <= end;
    const range = isLit ? rangeOn(trace, frame, number, text) : undefined;
    const code = codeText(
      text.slice(indent),
      shifted(tints[number - source.firstLine]!, indent),
      range && shifted([range], indent)[0],
    );
    box.append(codeLine(number, code, isLit));
  });
  if (end > last) box.append(element("div", { class: "pdl-gap" }, "⋯"));
  return box;
}

/** The columns of a line that ran; undefined if they are unknown or cover the whole line. */
function rangeOn(
  trace: PanelContext["trace"],
  frame: number,
  number: number,
  text: string,
): ColumnRange | undefined {
  const line = trace.at("frames", "line", frame);
  const end = Math.max(line, trace.at("frames", "end_line", frame));
  const column = trace.at("frames", "column", frame);
  if (column < 0) return undefined;
  const range = {
    start: number === line ? column : indentOf(text),
    end: number === end ? trace.at("frames", "end_column", frame) : text.length,
  };
  const isWhole = range.start <= indentOf(text) && range.end >= text.trimEnd().length;
  return isWhole || range.end <= range.start ? undefined : range;
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length;
}

function shifted<T extends ColumnRange>(ranges: readonly T[], by: number): T[] {
  const move = (column: number) => Math.max(0, column - by);
  return ranges.map((range) => ({ ...range, start: move(range.start), end: move(range.end) }));
}

/** Scrolls long lines sideways so that the underlined part is visible. */
export function showUnderlined(page: HTMLElement): void {
  for (const box of page.querySelectorAll<HTMLElement>(".pdl-source")) {
    const underlined = box.querySelector("u");
    if (!underlined) continue;
    const right = underlined.getBoundingClientRect().right - box.getBoundingClientRect().right;
    box.scrollLeft += Math.max(0, right + EDGE_PX);
  }
}
