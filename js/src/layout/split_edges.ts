/** Splits edges between visible boxes where they pass a frame, down from their lowest common group. */

import { groupBy } from "./adjacency.ts";
import type { NestedGraph } from "./contract.ts";
import { feedbackEdges } from "./layered/flow.ts";
import { BROADCAST_PENALTY, FEW_CONSUMERS } from "./layered/main_path.ts";

/**
 * Links: what is left of the edges inside each group. One tensor entering a group does so once: links with the same
 * tensor (named by the box that makes it) and the same receiving item are one.
 */
export interface Links {
  count: number;
  /** The group a link is drawn in; itemCount stands for the top. */
  group: Int32Array;
  /** Items of that group; ENTRY where the link comes from the frame's top, EXIT where it goes to its bottom. */
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

/** What the main path's links gain where they pass frames, so that groups agree on their main paths. */
const MAIN_PATH_BOOST = 1e6;

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
  const onMainPath = mainPath(graph);

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
    const boost = onMainPath[e] === 1 && list.length - start[e]! > 1 ? MAIN_PATH_BOOST : 0;
    for (let i = start[e]!; i < list.length; i++) weight[list[i]!]! += 1 + boost;
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

/** 1 for each edge of the heaviest path through all visible boxes. */
function mainPath(graph: NestedGraph): Uint8Array {
  const { itemCount, edgeSource, edgeTarget } = graph;
  const edgeCount = edgeSource.length;
  const onPath = new Uint8Array(edgeCount);

  const byOrder = new Int32Array(itemCount);
  for (let i = 0; i < itemCount; i++) byOrder[i] = i;
  const feedback = feedbackEdges(itemCount, edgeSource, edgeTarget, byOrder);
  const waiting = new Int32Array(itemCount);
  const usable = (e: number): boolean => feedback[e] === 0 && edgeSource[e] !== edgeTarget[e];
  for (let e = 0; e < edgeCount; e++) if (usable(e)) waiting[edgeTarget[e]!]!++;
  const outs = groupBy(edgeSource, itemCount);
  const queue = new Int32Array(itemCount);
  let filled = 0;
  for (let i = 0; i < itemCount; i++) if (waiting[i] === 0) queue[filled++] = i;
  const heaviest = new Float64Array(itemCount);
  const above = new Int32Array(itemCount).fill(-1);
  let end = 0;
  for (let i = 0; i < filled; i++) {
    const v = queue[i]!;
    if (heaviest[v]! > heaviest[end]!) end = v;
    const isBroadcast = outs.start[v + 1]! - outs.start[v]! > FEW_CONSUMERS;
    const carried = Math.max(0, heaviest[v]! - (isBroadcast ? BROADCAST_PENALTY : 0));
    for (let k = outs.start[v]!; k < outs.start[v + 1]!; k++) {
      const e = outs.list[k]!;
      if (!usable(e)) continue;
      const w = edgeTarget[e]!;
      const weight = carried + 1;
      if (weight > heaviest[w]!) {
        heaviest[w] = weight;
        above[w] = e;
      }
      if (--waiting[w]! === 0) queue[filled++] = w;
    }
  }
  for (let e = above[end]!; e >= 0; e = above[edgeSource[e]!]!) onPath[e] = 1;
  return onPath;
}
