/** Gives every box its rank: data flows down, edges are short, parameters are just above their consumer. */

import { groupBy } from "../adjacency.ts";
import type { Boxes, Flow } from "./flow.ts";

/** @returns the rank of each box, 0 at the top, without empty ranks. */
export function rankBoxes(boxes: Boxes, flow: Pick<Flow, "count" | "from" | "to">): Int32Array {
  const { count, pin, byOrder } = boxes;
  const { from, to } = flow;
  const outs = groupBy(from, count);
  const inputs = new Int32Array(count);
  for (let f = 0; f < flow.count; f++) inputs[to[f]!]!++;

  let firstInner = 0;
  for (let v = 0; v < count; v++) if (pin[v]! < 0) firstInner = 1;

  // The rank of a box is the length of the longest path from the top.
  const rank = new Int32Array(count);
  const waiting = inputs.slice();
  const topological = new Int32Array(count);
  let filled = 0;
  for (const v of byOrder) {
    if (waiting[v] !== 0) continue;
    topological[filled++] = v;
    rank[v] = pin[v]! < 0 ? 0 : firstInner;
  }
  let last = firstInner;
  for (let i = 0; i < filled; i++) {
    const v = topological[i]!;
    const below = rank[v]! + 1;
    if (pin[v] === 0 && below > last) last = below;
    for (let k = outs.start[v]!; k < outs.start[v + 1]!; k++) {
      const w = to[outs.list[k]!]!;
      if (rank[w]! < below) rank[w] = below;
      if (--waiting[w]! === 0) topological[filled++] = w;
    }
  }
  for (let v = 0; v < count; v++) if (pin[v]! > 0) rank[v] = last;

  // Boxes with at least as many consumers as inputs move down to their first consumer. This makes
  // edges shorter.
  for (let i = filled - 1; i >= 0; i--) {
    const v = topological[i]!;
    if (pin[v] !== 0) continue;
    let limit = 0x7fffffff;
    let consumers = 0;
    for (let k = outs.start[v]!; k < outs.start[v + 1]!; k++) {
      const w = to[outs.list[k]!]!;
      if (pin[w] === 1) continue; // the edge to an exit is straight from any rank
      consumers++;
      if (rank[w]! <= limit) limit = rank[w]! - 1;
    }
    if (consumers > 0 && consumers >= inputs[v]! && limit > rank[v]!) rank[v] = limit;
  }
  return rank;
}
