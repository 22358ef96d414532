/** Lays out graphs without groups, as the layout does with the inside of one. */

import { sortByKey } from "../../../src/layout/adjacency.ts";
import type { EdgePaths, LayoutOptions } from "../../../src/layout/contract.ts";
import { settingsOf } from "../../../src/layout/layered/component.ts";
import type { Boxes } from "../../../src/layout/layered/flow.ts";
import { layoutBoxes } from "../../../src/layout/layered/layered.ts";

/** A flat graph of boxes. Edges go source -> target; parallel edges are allowed, self loops do not count for ranks. */
export interface LayoutGraph {
  nodeCount: number;
  width: Float64Array;
  height: Float64Array;
  edgeSource: Int32Array;
  edgeTarget: Int32Array;
  /** Weight of an edge when the main path is chosen; 1 unless given. */
  edgeWeight?: Float64Array;
  /** Execution order of each node: breaks ties and so keeps pictures stable. */
  order?: Int32Array;
}

export interface LayoutResult extends EdgePaths {
  /** Centre of each node. */
  x: Float64Array;
  y: Float64Array;
  /** Extent of the picture, which starts at 0, 0. */
  width: number;
  height: number;
  /** 1 where the node lies on the main path, the main path, drawn as one vertical line. */
  onMainPath: Uint8Array;
}

/**
 * Lay out a flat graph in ranks, data flowing down.
 *
 * Deterministic, iterative (a chain of 100,000 nodes is fine), and without overlaps.
 */
export function layoutGraph(graph: LayoutGraph, options: LayoutOptions = {}): LayoutResult {
  const { mainPathX: _, ...result } = layoutBoxes(boxesOf(graph), settingsOf(options));
  return result;
}

export function boxesOf(graph: LayoutGraph): Boxes {
  const count = graph.nodeCount;
  const edgeCount = graph.edgeSource.length;
  const half = graph.width.map((width) => width / 2);
  const byOrder = new Int32Array(count);
  for (let v = 0; v < count; v++) byOrder[v] = v;
  if (graph.order) sortByKey(byOrder, 0, count, Float64Array.from(graph.order));
  return {
    count,
    left: half,
    right: half,
    height: graph.height,
    pin: new Int8Array(count),
    byOrder,
    source: graph.edgeSource,
    target: graph.edgeTarget,
    weight: graph.edgeWeight ?? new Float64Array(edgeCount).fill(1),
    bundle: graph.edgeSource,
    bundleCount: count,
    sourcePort: new Float64Array(edgeCount).fill(Number.NaN),
    targetPort: new Float64Array(edgeCount).fill(Number.NaN),
  };
}
