/**
 * What dot made of the corpus, stored: its own pictures take it half a minute. After a change of the
 * corpus ask it anew, where Graphviz is installed:
 *
 *     cd js && WRITE_DOT_ANSWERS=1 npx vitest run test/layout/yardstick.test.ts
 */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { countLineCrossings } from "../yardstick.ts";
import { dotText, dotVersion, layoutWithDot } from "./dot.ts";
import type { LayoutGraph } from "./flat_graph.ts";

export interface DotAnswer {
  /** Of the graph as dot was given it. */
  digest: string;
  /** Crossings of the ink. */
  crossings: number;
  /** In px. */
  width: number;
}

interface DotAnswers {
  dot: string;
  answers: Record<string, DotAnswer>;
}

const FILE = new URL("dot_answers.json", import.meta.url);

/**
 * @param graphs graphs of the corpus by their names
 * @returns dot's answer to each
 * @throws Error if a graph is not the one that dot was asked about
 */
export function dotAnswers(graphs: Readonly<Record<string, LayoutGraph>>): DotAnswers["answers"] {
  if (process.env.WRITE_DOT_ANSWERS) writeAnswers(graphs);
  const { answers } = JSON.parse(readFileSync(FILE, "utf8")) as DotAnswers;
  const stale = Object.entries(graphs).filter(([name, graph]) => {
    return answers[name]?.digest !== digestOf(graph);
  });
  if (stale.length) {
    const names = stale.map(([name]) => name).join(", ");
    throw new Error(`dot has not been asked about ${names}: see dot_answers.ts`);
  }
  return answers;
}

function writeAnswers(graphs: Readonly<Record<string, LayoutGraph>>): void {
  const answers: DotAnswers["answers"] = {};
  for (const [name, graph] of Object.entries(graphs)) {
    const { lines, width } = layoutWithDot(graph);
    answers[name] = { digest: digestOf(graph), crossings: countLineCrossings(lines), width };
  }
  const written: DotAnswers = { dot: dotVersion(), answers };
  writeFileSync(FILE, `${JSON.stringify(written, undefined, 2)}\n`);
}

function digestOf(graph: LayoutGraph): string {
  return createHash("sha256").update(dotText(graph)).digest("hex").slice(0, 16);
}
