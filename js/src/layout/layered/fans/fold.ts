/**
 * Wide fans become several rows, like a comb. A fan has leaves, such as an optimizer's ops that all read
 * one rate, or branches between two boxes, such as the many consumers of a tensor whose results are added.
 */

import type { Boxes } from "../flow.ts";
import { type Fan, type FanRows, layRows } from "./rows.ts";

/** A fan of leaves is folded if its boxes side by side would be wider than this, in px. */
const WIDEST_LEAVES_PX = 1200;
/** The same limit, for a fan between two boxes. */
const WIDEST_BRANCHES_PX = 3000;
const FEW_BRANCHES = 3;

export interface FoldedFans {
  fans: Fan[];
  rows: FanRows[];
  /** The boxes that are not in a fan, then one box for each fan. */
  boxes: Boxes;
  /** The folded box of each box. The boxes in a fan's branches all have the fan's box. */
  boxOf: Int32Array;
  /** The folded edge for each edge; -1 for an edge inside a branch. */
  edgeOf: Int32Array;
  /** The fan of each box, -1 for none, and the branch of the fan that contains the box. */
  fanOf: Int32Array;
  branchOf: Int32Array;
}

/** @returns null if there is nothing to fold. */
export function foldFans(boxes: Boxes, boxGap: number, laneGap: number): FoldedFans | null {
  const fans = findFans(boxes, boxGap);
  if (fans.length === 0) return null;
  const fanOf = new Int32Array(boxes.count).fill(-1);
  const branchOf = new Int32Array(boxes.count);
  const rows = fans.map((fan) => layRows(fan, boxes, boxGap, laneGap));
  fans.forEach(({ branches }, i) => {
    branches.forEach((branch, place) => {
      for (const v of branch) {
        fanOf[v] = i;
        branchOf[v] = place;
      }
    });
  });

  const kept: number[] = [];
  const boxOf = new Int32Array(boxes.count);
  for (let v = 0; v < boxes.count; v++) if (fanOf[v] === -1) boxOf[v] = kept.push(v) - 1;
  for (let v = 0; v < boxes.count; v++) if (fanOf[v]! >= 0) boxOf[v] = kept.length + fanOf[v]!;
  const count = kept.length + fans.length;
  const pick = (values: Float64Array, ofFan: (rows: FanRows) => number): Float64Array => {
    const picked = new Float64Array(count);
    kept.forEach((v, i) => {
      picked[i] = values[v]!;
    });
    rows.forEach((row, i) => {
      picked[kept.length + i] = ofFan(row);
    });
    return picked;
  };
  const byOrder = [...new Set(Array.from(boxes.byOrder, (v) => boxOf[v]!))];

  // All edges into the branches of a fan become one edge; all edges out of them become another.
  const edgeOf = new Int32Array(boxes.source.length).fill(-1);
  const first: number[] = [];
  const into = new Int32Array(fans.length).fill(-1);
  const outOf = new Int32Array(fans.length).fill(-1);
  for (let e = 0; e < edgeOf.length; e++) {
    const from = fanOf[boxes.source[e]!]!;
    const to = fanOf[boxes.target[e]!]!;
    if (from >= 0 && to >= 0) continue;
    const known = from >= 0 ? outOf[from]! : to >= 0 ? into[to]! : -1;
    edgeOf[e] = known >= 0 ? known : first.push(e) - 1;
    if (from >= 0) outOf[from] = edgeOf[e]!;
    else if (to >= 0) into[to] = edgeOf[e]!;
  }
  const edges = Int32Array.from(first);
  const pickEdge = (values: Float64Array): Float64Array =>
    Float64Array.from(edges, (e) => values[e]!);
  const pin = new Int8Array(count);
  kept.forEach((v, i) => {
    pin[i] = boxes.pin[v]!;
  });
  return {
    fans,
    rows,
    boxOf,
    edgeOf,
    fanOf,
    branchOf,
    boxes: {
      count,
      left: pick(boxes.left, (row) => row.half),
      right: pick(boxes.right, (row) => row.half),
      height: pick(boxes.height, (row) => row.height),
      pin,
      byOrder: Int32Array.from(byOrder),
      source: edges.map((e) => boxOf[boxes.source[e]!]!),
      target: edges.map((e) => boxOf[boxes.target[e]!]!),
      weight: pickEdge(boxes.weight),
      bundle: edges.map((e) => boxes.bundle[e]!),
      bundleCount: boxes.bundleCount,
      sourcePort: pickEdge(boxes.sourcePort),
      targetPort: pickEdge(boxes.targetPort),
    },
  };
}

const NONE = -1;
const SEVERAL = -2;

function findFans(boxes: Boxes, boxGap: number): Fan[] {
  const { count, source, target } = boxes;
  // The only edge into each box, and the only edge out of it.
  const into = new Int32Array(count).fill(NONE);
  const outOf = new Int32Array(count).fill(NONE);
  for (let e = 0; e < source.length; e++) {
    outOf[source[e]!] = outOf[source[e]!] === NONE ? e : SEVERAL;
    into[target[e]!] = into[target[e]!] === NONE ? e : SEVERAL;
  }
  const isSlim = (v: number): boolean =>
    into[v] !== SEVERAL && outOf[v] !== SEVERAL && boxes.pin[v] === 0;
  const isFree = (e: number, ports: Float64Array): boolean => e < 0 || Number.isNaN(ports[e]!);

  const groups = new Map<string, Fan>();
  for (const v of boxes.byOrder) {
    const reading = into[v]!;
    const isFirst = reading === NONE || (reading >= 0 && !isSlim(source[reading]!));
    if (!isSlim(v) || !isFirst) continue;
    const branch = [v];
    let last = outOf[v]!;
    let isFixed = !isFree(reading, boxes.targetPort);
    while (last >= 0 && isSlim(target[last]!)) {
      isFixed ||= !isFree(last, boxes.sourcePort) || !isFree(last, boxes.targetPort);
      branch.push(target[last]!);
      last = outOf[target[last]!]!;
    }
    isFixed ||= !isFree(last, boxes.sourcePort) || !isFree(last, boxes.targetPort);
    if (isFixed || (reading < 0 && last < 0)) continue;
    const key = `${reading < 0 ? "" : boxes.bundle[reading]} ${last < 0 ? "" : target[last]}`;
    const fan = groups.get(key);
    if (fan) fan.branches.push(branch);
    else groups.set(key, { reads: reading >= 0, feeds: last >= 0, branches: [branch] });
  }
  return [...groups.values()].filter(({ branches, reads, feeds }) => {
    const isOfLeaves = !(reads && feeds) && branches.every((branch) => branch.length === 1);
    const widest = isOfLeaves ? WIDEST_LEAVES_PX : WIDEST_BRANCHES_PX;
    let width = -boxGap;
    for (const branch of branches) {
      let across = 0;
      for (const v of branch) across = Math.max(across, boxes.left[v]! + boxes.right[v]!);
      width += across + boxGap;
    }
    return branches.length > FEW_BRANCHES && width > widest;
  });
}
