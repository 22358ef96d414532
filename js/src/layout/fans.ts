/** Wide fans of leaves, such as the ops of an optimizer that all read one rate, become a comb of several rows. */

import type { Boxes } from "./flow.ts";
import type { PointList } from "./points.ts";

/** A fan is folded if its boxes side by side would be wider than this, in px. */
const WIDEST_ROW_PX = 1200;
/** Rows are this many times as wide as all of them are high. */
const SHAPE = 1.8;

/** Leaves that stand in rows on both sides of a spine, which is the anchor of the box that stands for them all. */
export interface Fan {
  /** The leaves feed their common consumer; else they read from their common source. */
  feeds: boolean;
  leaves: number[];
  /** Anchor x from the spine, top y from the comb's top, and y of the row's bus, of each leaf. */
  x: number[];
  y: number[];
  bus: number[];
  left: number;
  right: number;
  height: number;
}

export interface FoldedFans {
  fans: Fan[];
  /** The graph with one box for each fan, after the others. */
  boxes: Boxes;
  /** Folded box of each box, the fan's for leaves. */
  boxOf: Int32Array;
  /** Folded edge of each edge. */
  edgeOf: Int32Array;
  /** The fan and the place in it of each leaf. */
  fanOf: Map<number, { fan: Fan; place: number }>;
}

/** @returns null where there is nothing to fold. */
export function foldFans(boxes: Boxes, boxGap: number, laneGap: number): FoldedFans | null {
  const fans = findFans(boxes, boxGap);
  if (fans.length === 0) return null;
  const fanOf: FoldedFans["fanOf"] = new Map();
  const fanIndex = new Int32Array(boxes.count).fill(-1);
  fans.forEach((fan, i) => {
    arrangeRows(fan, boxes, boxGap, laneGap);
    fan.leaves.forEach((leaf, place) => {
      fanOf.set(leaf, { fan, place });
      fanIndex[leaf] = i;
    });
  });

  const kept: number[] = [];
  const boxOf = new Int32Array(boxes.count);
  for (let v = 0; v < boxes.count; v++) if (fanIndex[v] === -1) boxOf[v] = kept.push(v) - 1;
  for (let v = 0; v < boxes.count; v++)
    if (fanIndex[v]! >= 0) boxOf[v] = kept.length + fanIndex[v]!;
  const pick = (values: Float64Array, ofFan: (fan: Fan) => number): Float64Array =>
    Float64Array.from([...kept.map((v) => values[v]!), ...fans.map(ofFan)]);
  const byOrder = [...new Set(Array.from(boxes.byOrder, (v) => boxOf[v]!))];

  // The edges of all leaves of a fan are one.
  const edgeOf = new Int32Array(boxes.source.length);
  const first: number[] = [];
  const ofFan = new Map<number, number>();
  for (let e = 0; e < edgeOf.length; e++) {
    const fan = Math.max(fanIndex[boxes.source[e]!]!, fanIndex[boxes.target[e]!]!);
    const known = fan < 0 ? undefined : ofFan.get(fan);
    edgeOf[e] = known ?? first.push(e) - 1;
    if (fan >= 0 && known === undefined) ofFan.set(fan, edgeOf[e]!);
  }
  const edges = Int32Array.from(first);
  const pickEdge = (values: Float64Array): Float64Array =>
    Float64Array.from(edges, (e) => values[e]!);
  const pin = new Int8Array(kept.length + fans.length);
  kept.forEach((v, i) => {
    pin[i] = boxes.pin[v]!;
  });
  return {
    fans,
    boxOf,
    edgeOf,
    fanOf,
    boxes: {
      count: pin.length,
      left: pick(boxes.left, (fan) => fan.left),
      right: pick(boxes.right, (fan) => fan.right),
      height: pick(boxes.height, (fan) => fan.height),
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

function findFans(boxes: Boxes, boxGap: number): Fan[] {
  const { count, source, target } = boxes;
  // The one edge of each box, -1 none yet, -2 several.
  const only = new Int32Array(count).fill(-1);
  for (let e = 0; e < source.length; e++) {
    for (const v of [source[e]!, target[e]!]) only[v] = only[v] === -1 ? e : -2;
  }
  const groups = new Map<number, Fan>();
  for (const v of boxes.byOrder) {
    const e = only[v]!;
    if (e < 0 || boxes.pin[v] !== 0 || source[e] === target[e]) continue;
    const feeds = source[e] === v;
    const isFixed = feeds
      ? !Number.isNaN(boxes.sourcePort[e]!) || !Number.isNaN(boxes.targetPort[e]!)
      : !Number.isNaN(boxes.targetPort[e]!);
    if (isFixed) continue;
    const key = feeds ? -1 - target[e]! : boxes.bundle[e]!;
    let fan = groups.get(key);
    if (fan === undefined) {
      fan = { feeds, leaves: [], x: [], y: [], bus: [], left: 0, right: 0, height: 0 };
      groups.set(key, fan);
    }
    fan.leaves.push(v);
  }
  return [...groups.values()].filter(({ leaves }) => {
    let width = -boxGap;
    for (const v of leaves) width += boxes.left[v]! + boxes.right[v]! + boxGap;
    return leaves.length > 3 && width > WIDEST_ROW_PX;
  });
}

function arrangeRows(fan: Fan, boxes: Boxes, boxGap: number, laneGap: number): void {
  const gap = boxGap / 2;
  const rowGap = 2 * laneGap;
  const widthOf = (v: number): number => boxes.left[v]! + boxes.right[v]!;
  let area = 0;
  for (const v of fan.leaves) area += (widthOf(v) + gap) * (boxes.height[v]! + rowGap);
  const rowWidth = Math.max(WIDEST_ROW_PX / 2, Math.sqrt(SHAPE * area));

  let top = 0;
  for (let first = 0; first < fan.leaves.length; ) {
    let end = first;
    let width = 0;
    let height = 0;
    while (end < fan.leaves.length) {
      const v = fan.leaves[end]!;
      if (end > first && width + widthOf(v) > rowWidth) break;
      width += widthOf(v) + gap;
      height = Math.max(height, boxes.height[v]!);
      end++;
    }
    const middle = (first + end) >> 1;
    const boxTop = fan.feeds ? top : top + rowGap;
    const bus = fan.feeds ? top + height + rowGap / 2 : top + rowGap / 2;
    const put = (i: number, x: number): void => {
      const v = fan.leaves[i]!;
      fan.x[i] = x;
      // Boxes of a row stand on the side of the bus.
      fan.y[i] = fan.feeds ? boxTop + height - boxes.height[v]! : boxTop;
      fan.bus[i] = bus;
      fan.left = Math.max(fan.left, boxes.left[v]! - x);
      fan.right = Math.max(fan.right, boxes.right[v]! + x);
    };
    let x = -laneGap;
    for (let i = middle - 1; i >= first; i--) {
      put(i, x - boxes.right[fan.leaves[i]!]!);
      x -= widthOf(fan.leaves[i]!) + gap;
    }
    x = laneGap;
    for (let i = middle; i < end; i++) {
      put(i, x + boxes.left[fan.leaves[i]!]!);
      x += widthOf(fan.leaves[i]!) + gap;
    }
    top += height + rowGap;
    first = end;
  }
  fan.height = top;
}

/** Lead a path on from the comb's end of the spine to a leaf, or from a leaf to it. `top` is the comb's. */
export function followComb(
  points: PointList,
  begin: number,
  fan: Fan,
  place: number,
  spineX: number,
  top: number,
  leafHeight: number,
): void {
  const x = spineX + fan.x[place]!;
  const bus = top + fan.bus[place]!;
  if (fan.feeds) {
    points.extend(begin, x, top + fan.y[place]! + leafHeight);
    points.extend(begin, x, bus);
    points.push(spineX, bus);
  } else {
    points.extend(begin, spineX, bus);
    points.push(x, bus);
    points.extend(begin, x, top + fan.y[place]!);
  }
}
