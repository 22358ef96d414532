/** The layout's public face. */

import { sortByKey } from "./adjacency.ts";
import type { LayoutGraph, LayoutOptions, LayoutResult } from "./contract.ts";
import type { Boxes } from "./flow.ts";
import { layoutBoxes } from "./layered.ts";
import { settingsOf } from "./part.ts";

export * from "./contract.ts";
export { type CurveSink, edgePathData, traceEdge } from "./curve.ts";
export { type LadderInput, type LadderOptions, type LadderResult, layoutLadder } from "./ladder.ts";
export { Narrowing, type Span } from "./narrowing.ts";
export { layoutNested } from "./nested.ts";
export {
  createLayoutRunner,
  type LayoutFunction,
  type LayoutRunner,
  type RunnerOptions,
} from "./worker.ts";
export { isWorkerStarting, startLayout, warmUpLayout } from "./worker_pool.ts";

/**
 * Lay out a flat graph in ranks, data flowing down.
 *
 * Deterministic, iterative (a chain of 100,000 nodes is fine), and without overlaps.
 *
 * @throws LayoutCancelled when `options.isCancelled` said so.
 */
export function layoutGraph(graph: LayoutGraph, options: LayoutOptions = {}): LayoutResult {
  const { trunkX: _, ...result } = layoutBoxes(boxesOf(graph), settingsOf(options));
  return result;
}

export function boxesOf(graph: LayoutGraph): Boxes {
  const count = graph.nodeCount;
  const edgeCount = graph.edgeSource.length;
  const half = graph.width.map((width) => width / 2);
  const byOrder = new Int32Array(count);
  for (let v = 0; v < count; v++) byOrder[v] = v;
  if (graph.order) sortByKey(byOrder, 0, count, Float64Array.from(graph.order), byOrder.slice());
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
