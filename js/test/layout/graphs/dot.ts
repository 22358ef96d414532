/** Graphviz dot's picture of a graph of ours: the yardstick of the layout. */

import { spawnSync } from "node:child_process";
import type { NestedGraph } from "../../../src/layout/contract.ts";
import { cubic, type Lines } from "../yardstick.ts";
import type { LayoutGraph } from "./flat_graph.ts";

const PX_PER_INCH = 72;

export interface DotPicture {
  width: number;
  height: number;
  /** One line an edge, in dot's order. */
  lines: Lines;
}

export function hasDot(): boolean {
  return dotVersion() !== "";
}

/** Such as "dot - graphviz version 2.43.0"; "" where it is not installed. */
export function dotVersion(): string {
  const run = spawnSync("dot", ["-V"]);
  return run.status === 0 ? `${run.stderr}`.trim() : "";
}

/** The graph in dot's language, with the sizes and gaps of ours; open groups are clusters. */
export function dotText(graph: LayoutGraph | NestedGraph, nodeGap = 24, rankGap = 32): string {
  const text = [
    `digraph { nodesep=${nodeGap / PX_PER_INCH} ranksep=${rankGap / PX_PER_INCH}`,
    'node [shape=box fixedsize=true label=""] edge [arrowhead=none]',
  ];
  const isNested = "itemCount" in graph;
  const count = isNested ? graph.itemCount : graph.nodeCount;
  const inside: number[] = [];
  for (let v = 0; v < count; v++) {
    // Parents come before children, and what is inside of a group comes right after it.
    const parent = isNested ? graph.parent[v]! : -1;
    while (inside.length > 0 && inside.at(-1) !== parent) {
      inside.pop();
      text.push("}");
    }
    if (isNested && graph.open[v]) {
      text.push(`subgraph cluster_${v} {`);
      inside.push(v);
    } else {
      const [width, height] = [graph.width[v]! / PX_PER_INCH, graph.height[v]! / PX_PER_INCH];
      text.push(`${v} [width=${width} height=${height}]`);
    }
  }
  text.push(...inside.map(() => "}"));
  graph.edgeSource.forEach((source, e) => {
    text.push(`${source} -> ${graph.edgeTarget[e]}`);
  });
  text.push("}");
  return text.join("\n");
}

/** Lay the graph out with dot at the same sizes and gaps. */
export function layoutWithDot(graph: LayoutGraph | NestedGraph): DotPicture {
  return readDot(runDot(dotText(graph)));
}

/**
 * What `dot -Tplain` answers.
 *
 * @throws Error if dot fails, or takes longer than `limit_ms`
 */
export function runDot(text: string, limit_ms?: number): string {
  const options = { input: text, maxBuffer: 1 << 28, timeout: limit_ms };
  const run = spawnSync("dot", ["-Tplain"], options);
  if (run.status !== 0) throw new Error(`dot: ${run.signal ?? run.stderr}`);
  return run.stdout.toString();
}

export function readDot(plain: string): DotPicture {
  const picture: DotPicture = { width: 0, height: 0, lines: [] };
  for (const row of plain.replaceAll("\\\n", "").split("\n")) {
    const words = row.split(" ");
    if (words[0] === "graph") {
      picture.width = Number(words[2]) * PX_PER_INCH;
      picture.height = Number(words[3]) * PX_PER_INCH;
    }
    if (words[0] !== "edge") continue;
    const count = Number(words[3]);
    const points = words.slice(4, 4 + 2 * count).map((word) => Number(word) * PX_PER_INCH);
    const line = points.slice(0, 2);
    for (let i = 0; i + 7 < points.length; i += 6) cubic(line, points.slice(i, i + 8));
    picture.lines.push(line);
  }
  return picture;
}
