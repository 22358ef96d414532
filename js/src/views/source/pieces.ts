/**
 * Which compiled program runs each line of a function that `to_static` compiled, and which lines
 * Python runs eagerly: a bar in the gutter, and a legend above the source.
 */

import { button, element } from "../../dom/element.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";

/** Line, from 1 → programs, counted from 0; -1 for eager Python, which comes last. */
export type Pieces = ReadonlyMap<number, readonly number[]>;

const COLOURS = 4;
const MOST_IN_LEGEND = 8;

/** @param file the file's name, as a position in `strings` */
export function piecesOf(trace: Trace, file: number): Pieces {
  const pieces = new Map<number, number[]>();
  const [programs, files, lines] = trace.columns("program_lines", "program", "file", "line");
  for (let row = 0; row < programs.length; row++) {
    if (files[row] !== file) continue;
    const known = pieces.get(lines[row]!);
    if (known) known.push(programs[row]!);
    else pieces.set(lines[row]!, [programs[row]!]);
  }
  for (const line of pieces.values()) line.sort((a, b) => (a < 0 ? 1 : b < 0 ? -1 : a - b));
  return pieces;
}

/** The bar next to a line. The first line of each piece also has the piece's number. */
export function pieceBar(pieces: Pieces, line: number): HTMLElement {
  const own = pieces.get(line) ?? [];
  const above = pieces.get(line - 1) ?? [];
  const label = own
    .map((piece) => (piece < 0 ? t("pieces.is_eager") : t("pieces.in_program", { n: piece + 1 })))
    .join("\n");
  return element(
    "span",
    own.length > 0 ? { class: "pdl-pieces", role: "img", "aria-label": label, title: label } : {},
    ...own.map((piece) => swatch(piece, above.includes(piece) ? "" : String(piece + 1))),
  );
}

/** @param show shows a line */
export function pieceLegend(pieces: Pieces, show: (line: number) => void): HTMLElement {
  const lines = new Map<number, number[]>();
  for (const [line, own] of [...pieces].sort(([a], [b]) => a - b)) {
    for (const piece of own) lines.set(piece, [...(lines.get(piece) ?? []), line]);
  }
  const all = [...lines].sort(([a], [b]) => (a < 0 ? 1 : b < 0 ? -1 : a - b));
  const programs = all.filter(([piece]) => piece >= 0);
  const rest = programs.length - MOST_IN_LEGEND;
  const shown = [...programs.slice(0, MOST_IN_LEGEND), ...all.filter(([piece]) => piece < 0)];
  return element(
    "div",
    {
      class: "pdl-piece-legend",
      role: "group",
      "aria-label": t("pieces.legend"),
      hidden: all.length === 0,
    },
    ...shown.map(([piece, own]) => {
      const name = piece < 0 ? t("pieces.eager") : t("pieces.program", { n: piece + 1 });
      const made = button(name, () => show(own[0]!), {
        class: "pdl-chip pdl-quiet",
        title: t("pieces.lines", { lines: ranges(own) }),
      });
      made.prepend(swatch(piece, ""));
      return made;
    }),
    rest > 0 && element("small", {}, t("pieces.more", { n: rest })),
  );
}

function swatch(piece: number, label: string): HTMLElement {
  if (piece < 0) return element("span", { class: "pdl-eager" });
  return element("span", { class: `pdl-piece-${piece % COLOURS}` }, label);
}

/** "3–5, 8" */
function ranges(lines: readonly number[]): string {
  const found: [number, number][] = [];
  for (const line of lines) {
    const last = found.at(-1);
    if (last && last[1] === line - 1) last[1] = line;
    else found.push([line, line]);
  }
  return found.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
}
