/** Breaks cycles: names the edges that run against the flow. */

import { groupBy } from "./adjacency.ts";

/**
 * Edges that close a cycle in a depth-first walk in execution order.
 *
 * @returns 1 for each edge to be turned round; self loops are 0.
 */
export function feedbackEdges(
  nodeCount: number,
  source: Int32Array,
  target: Int32Array,
  byOrder: Int32Array,
): Uint8Array {
  const feedback = new Uint8Array(source.length);
  const out = groupBy(source, nodeCount);
  const hasInput = new Uint8Array(nodeCount);
  for (let e = 0; e < source.length; e++) if (source[e] !== target[e]) hasInput[target[e]!] = 1;

  const seen = new Uint8Array(nodeCount); // 0 new, 1 on the path, 2 done
  const next = out.start.slice(0, nodeCount);
  const stack = new Int32Array(nodeCount);
  for (let pass = 0; pass < 2; pass++) {
    for (const root of byOrder) {
      if (seen[root] !== 0 || (pass === 0 && hasInput[root])) continue;
      let depth = 0;
      stack[0] = root;
      seen[root] = 1;
      while (depth >= 0) {
        const node = stack[depth]!;
        if (next[node]! >= out.start[node + 1]!) {
          seen[node] = 2;
          depth--;
          continue;
        }
        const edge = out.list[next[node]!++]!;
        const to = target[edge]!;
        if (to === node) continue;
        if (seen[to] === 1) feedback[edge] = 1;
        else if (seen[to] === 0) {
          seen[to] = 1;
          stack[++depth] = to;
        }
      }
    }
  }
  return feedback;
}
