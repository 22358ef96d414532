/** The graph for the layered steps: one connected part, without self loops, cycles or parallel edges. */

import { groupBy } from "../adjacency.ts";

export const CUT_ABOVE = -2;
export const CUT_BELOW = 2;

/** Boxes and edges of one connected part. `left` and `right` are the distances from the anchor, where edges end. */
export interface Boxes {
  count: number;
  left: Float64Array;
  right: Float64Array;
  height: Float64Array;
  /**
   * -1 for an entry port (top rank), 1 for an exit port (bottom rank); CUT_ABOVE and CUT_BELOW for a
   * box at the end of a section, which has such a rank for itself; else 0.
   */
  pin: Int8Array;
  /** The boxes in execution order. */
  byOrder: Int32Array;
  source: Int32Array;
  target: Int32Array;
  weight: Float64Array;
  /**
   * The bundle of each edge, a number below `bundleCount`. Edges of a bundle carry one tensor and
   * leave their source as one line.
   */
  bundle: Int32Array;
  bundleCount: number;
  /** The offset from the anchor at which an edge meets a box; NaN if the layout may choose. */
  sourcePort: Float64Array;
  targetPort: Float64Array;
}

/** Distinct edges, all in the direction of flow. */
export interface Flow {
  count: number;
  from: Int32Array;
  to: Int32Array;
  weight: Float64Array;
  /** The bundle. A reversed edge has a bundle of its own. Edges of a bundle share `from`. */
  bundle: Int32Array;
  bundleCount: number;
  reversed: Uint8Array;
  fromPort: Float64Array;
  toPort: Float64Array;
  /** The flow edge of each edge, -1 for self loops. */
  ofEdge: Int32Array;
}

export function makeFlow(boxes: Boxes): Flow {
  const { source, target, bundle, bundleCount } = boxes;
  const edgeCount = source.length;
  const feedback = feedbackEdges(boxes.count, source, target, boxes.byOrder);
  const ofEdge = new Int32Array(edgeCount).fill(-1);
  const kept = new Int32Array(edgeCount);
  const total = new Float64Array(edgeCount);
  let count = 0;

  const members = groupBy(bundle, bundleCount);
  const stamp = new Int32Array(boxes.count).fill(-1);
  const flowTo = new Int32Array(boxes.count);
  for (let b = 0; b < bundleCount; b++) {
    for (let k = members.start[b]!; k < members.start[b + 1]!; k++) {
      const edge = members.list[k]!;
      const to = target[edge]!;
      if (source[edge] === to) continue;
      if (stamp[to] !== b || !samePort(boxes.targetPort, kept[flowTo[to]!]!, edge)) {
        stamp[to] = b;
        flowTo[to] = count;
        kept[count++] = edge;
      }
      ofEdge[edge] = flowTo[to]!;
      total[flowTo[to]!]! += boxes.weight[edge]!;
    }
  }

  const flow: Flow = {
    count,
    from: new Int32Array(count),
    to: new Int32Array(count),
    weight: total.slice(0, count),
    bundle: new Int32Array(count),
    bundleCount,
    reversed: new Uint8Array(count),
    fromPort: new Float64Array(count),
    toPort: new Float64Array(count),
    ofEdge,
  };
  for (let f = 0; f < count; f++) {
    const edge = kept[f]!;
    const turned = feedback[edge] === 1;
    flow.reversed[f] = turned ? 1 : 0;
    flow.from[f] = turned ? target[edge]! : source[edge]!;
    flow.to[f] = turned ? source[edge]! : target[edge]!;
    flow.fromPort[f] = turned ? boxes.targetPort[edge]! : boxes.sourcePort[edge]!;
    flow.toPort[f] = turned ? boxes.sourcePort[edge]! : boxes.targetPort[edge]!;
    flow.bundle[f] = turned ? flow.bundleCount++ : bundle[edge]!;
  }
  return flow;
}

function samePort(ports: Float64Array, a: number, b: number): boolean {
  return ports[a] === ports[b] || (Number.isNaN(ports[a]) && Number.isNaN(ports[b]));
}

/**
 * Find the edges that close a cycle, by a depth-first search in execution order.
 *
 * @returns 1 for each edge to reverse; 0 for self loops.
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
