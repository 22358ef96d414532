/** Splits the edges between visible boxes into links, at each frame that an edge crosses. */

import type { NestedGraph } from "./contract.ts";

/**
 * The parts of the edges inside each group. A tensor enters a group once: links with the same
 * tensor (identified by the box that makes it) and the same receiving item are one link.
 */
export interface Links {
  count: number;
  /** The group in which a link is drawn; itemCount means the top level. */
  group: Int32Array;
  /** Items of the group. ENTRY: the edge starts at the frame's top. EXIT: it ends at the bottom. */
  from: Int32Array;
  to: Int32Array;
  /** The box that makes the tensor. */
  tensor: Int32Array;
  weight: Float64Array;
  /** The links of each edge from source to target: list[start[e]] .. list[start[e + 1] - 1]. */
  start: Int32Array;
  list: Int32Array;
}

export const ENTRY = -1;
export const EXIT = -1;

export function splitEdges(graph: NestedGraph): Links {
  const { itemCount, parent, edgeSource, edgeTarget } = graph;
  const edgeCount = edgeSource.length;
  const depth = new Int32Array(itemCount);
  for (let i = 0; i < itemCount; i++) depth[i] = parent[i]! < 0 ? 0 : depth[parent[i]!]! + 1;

  const group: number[] = [];
  const from: number[] = [];
  const to: number[] = [];
  const tensor: number[] = [];
  const weight: number[] = [];
  const arriving = new Map<number, number>();
  const leaving = new Map<number, number>();
  const start = new Int32Array(edgeCount + 1);
  const list: number[] = [];

  const link = (
    known: Map<number, number>,
    key: number,
    ...ends: [number, number, number, number]
  ) => {
    let id = known.get(key);
    if (id === undefined) {
      id = group.length;
      known.set(key, id);
      group.push(ends[0]);
      from.push(ends[1]);
      to.push(ends[2]);
      tensor.push(ends[3]);
      weight.push(0);
    }
    list.push(id);
  };

  for (let e = 0; e < edgeCount; e++) {
    start[e] = list.length;
    const maker = edgeSource[e]!;
    let u = maker;
    let w = edgeTarget[e]!;
    if (u === w) {
      link(arriving, maker * itemCount + w, topIfNone(parent[u]!, itemCount), u, w, maker);
      continue;
    }
    const inwards: number[] = [];
    while (parent[u] !== parent[w]) {
      const climbSource = depth[u]! > depth[w]!;
      const climbTarget = depth[w]! > depth[u]!;
      if (!climbTarget) {
        const g = parent[u]!;
        link(leaving, maker * itemCount + g, g, u, EXIT, maker);
        u = g;
      }
      if (!climbSource) {
        inwards.push(w);
        w = parent[w]!;
      }
    }
    link(arriving, maker * itemCount + w, topIfNone(parent[w]!, itemCount), u, w, maker);
    for (let i = inwards.length - 1; i >= 0; i--) {
      const inner = inwards[i]!;
      link(arriving, maker * itemCount + inner, parent[inner]!, ENTRY, inner, maker);
    }
    for (let i = start[e]!; i < list.length; i++) weight[list[i]!]!++;
  }
  start[edgeCount] = list.length;
  return {
    count: group.length,
    group: Int32Array.from(group),
    from: Int32Array.from(from),
    to: Int32Array.from(to),
    tensor: Int32Array.from(tensor),
    weight: Float64Array.from(weight),
    start,
    list: Int32Array.from(list),
  };
}

function topIfNone(parent: number, itemCount: number): number {
  return parent < 0 ? itemCount : parent;
}
