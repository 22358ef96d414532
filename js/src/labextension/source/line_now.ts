/** Finds a traced line in a text that was perhaps edited after the trace. */

/** A text at the time of the trace. */
export interface TracedText {
  readonly lines: readonly string[];
  /** Number of the first line, from 1. */
  readonly firstLine: number;
  /** Whether this is the whole text, and not a part of it. */
  readonly isWhole: boolean;
}

export interface FoundLine {
  readonly line: number;
  readonly isChanged: boolean;
}

/** How many neighbouring lines must be equal, if the same text may also be on other lines. */
const FEWEST_NEIGHBOURS = 1;

/**
 * @param line the line's number in the trace, from 1
 * @param now the current text of the cell or file
 * @returns the line's current number, from 1; undefined if no line or several lines match
 */
export function findLine(traced: TracedText, line: number, now: string): FoundLine | undefined {
  const lines = now.trimEnd().split("\n");
  // IPython removes empty lines at the top of a cell before it counts lines.
  const above = traced.isWhole
    ? Math.max(
        0,
        lines.findIndex((text) => text.trim()),
      )
    : traced.firstLine - 1;
  const at = line - traced.firstLine;
  if (isSame(traced, lines, above)) return { line: above + at + 1, isChanged: false };
  const there = placeOf(traced, at, lines);
  return there < 0 ? undefined : { line: there + 1, isChanged: true };
}

/** The fraction of the traced lines that the text still has: 1 for all of them. */
export function likeness(traced: readonly string[], now: string): number {
  const left = new Map<string, number>();
  for (const text of filled(now.split("\n"))) left.set(text, (left.get(text) ?? 0) + 1);
  const wanted = filled(traced);
  const kept = wanted.filter((text) => {
    const count = left.get(text) ?? 0;
    left.set(text, count - 1);
    return count > 0;
  });
  return wanted.length > 0 ? kept.length / wanted.length : 0;
}

function isSame(traced: TracedText, lines: readonly string[], above: number): boolean {
  const length = traced.lines.findLastIndex((text) => text.trim()) + 1;
  if (traced.isWhole && lines.length !== above + length) return false;
  return traced.lines
    .slice(0, length)
    .every((text, index) => text.trimEnd() === lines[above + index]?.trimEnd());
}

/** The only place that has the line's text and the most equal neighbours. */
function placeOf(traced: TracedText, at: number, lines: readonly string[]): number {
  const then = numbered(traced.lines);
  const now = numbered(lines);
  const from = then.findIndex(({ index }) => index === at);
  const text = then[from]?.text;
  if (text === undefined) return -1;
  const to = onlyBest(now, text, (other) => neighbours(then, from, now, other));
  if (to < 0) return -1;
  // If one of two equal lines was deleted, choose the line with equal neighbours.
  const back = onlyBest(then, text, (other) => neighbours(then, other, now, to));
  if (back !== from) return -1;
  const needed = traced.isWhole ? 0 : Math.min(FEWEST_NEIGHBOURS, then.length - 1);
  return neighbours(then, from, now, to) >= needed ? now[to]!.index : -1;
}

interface NumberedLine {
  readonly text: string;
  readonly index: number;
}

/**
 * The lines that are not empty, without indentation, because a line may have been moved into a
 * loop.
 */
function numbered(lines: readonly string[]): NumberedLine[] {
  return lines.map((line, index) => ({ text: line.trim(), index })).filter(({ text }) => text);
}

function filled(lines: readonly string[]): string[] {
  return numbered(lines).map(({ text }) => text);
}

/** Index of the line with this text and the highest score; -1 if there is none, or several. */
function onlyBest(
  lines: readonly NumberedLine[],
  text: string,
  score: (index: number) => number,
): number {
  let [best, most, isOnly] = [-1, -1, false];
  lines.forEach((line, index) => {
    if (line.text !== text) return;
    const reached = score(index);
    isOnly = reached > most || (isOnly && reached < most);
    if (reached > most) [best, most] = [index, reached];
  });
  return isOnly ? best : -1;
}

/** How many adjacent lines above and below two lines are equal. */
function neighbours(
  then: readonly NumberedLine[],
  from: number,
  now: readonly NumberedLine[],
  to: number,
): number {
  let count = 0;
  for (const step of [-1, 1]) {
    for (let by = step; ; by += step) {
      const text = then[from + by]?.text;
      if (text === undefined || text !== now[to + by]?.text) break;
      count++;
    }
  }
  return count;
}
