/** Graphs of traced models, with the crossings of dot's pictures; the file names the command that wrote it. */

import { readFileSync } from "node:fs";
import type { NestedGraph } from "../../../src/layout/contract.ts";
import type { LayoutGraph } from "./flat_graph.ts";

export interface StoredGraph {
  name: string;
  /** Crossings of the ink in dot's picture. */
  dotCrossings: number;
  graph: LayoutGraph | NestedGraph;
}

const FLOATS = new Set(["width", "height", "edgeWeight"]);

export function storedGraphs(): StoredGraph[] {
  const file = JSON.parse(readFileSync(new URL("stored_graphs.json", import.meta.url), "utf8"));
  return file.stored.map((stored: StoredGraph) => ({ ...stored, graph: typed(stored.graph) }));
}

function typed(graph: object): LayoutGraph | NestedGraph {
  const columns = Object.entries(graph).map(([name, values]) => {
    if (!Array.isArray(values)) return [name, values];
    if (name === "open") return [name, Uint8Array.from(values)];
    return [name, FLOATS.has(name) ? Float64Array.from(values) : Int32Array.from(values)];
  });
  return Object.fromEntries(columns);
}
