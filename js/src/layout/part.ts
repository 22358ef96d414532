/** The layered layout of one connected part, step by step. */

import {
  EDGE_CURVE,
  EDGE_FEEDBACK,
  EDGE_LANE,
  LayoutCancelled,
  type LayoutOptions,
} from "./contract.ts";
import { enterRow, leaveRow } from "./fan_rows.ts";
import { type FoldedFans, foldFans } from "./fans.ts";
import { type Boxes, type Flow, makeFlow } from "./flow.ts";
import { orderRanks } from "./order.ts";
import { placeVertices } from "./place.ts";
import { PointList } from "./points.ts";
import { makeProper, type Proper } from "./proper.ts";
import { rankBoxes } from "./rank.ts";
import { type Routes, routeEdges } from "./route.ts";
import { chooseTrunk } from "./trunk.ts";

export interface Settings {
  nodeGap: number;
  rankGap: number;
  laneGap: number;
  laneSpan: number;
  checkCancelled: () => void;
}

export function settingsOf(options: LayoutOptions): Settings {
  const { nodeGap = 24, rankGap = 32, laneGap = 12, laneSpan = 200, isCancelled } = options;
  const checkCancelled = (): void => {
    if (isCancelled?.()) throw new LayoutCancelled();
  };
  return {
    nodeGap,
    rankGap,
    laneGap,
    laneSpan: Math.max(1, laneSpan),
    checkCancelled,
  };
}

/** y starts at 0; x is 0 on the trunk. */
export interface PartLayout {
  /** Anchor x and centre y of each box. */
  x: Float64Array;
  y: Float64Array;
  minX: number;
  maxX: number;
  height: number;
  trunk: Uint8Array;
  rankCount: number;
  /** Path of each edge: points edgeStart[e] .. edgeStart[e + 1] - 1. */
  edgeStart: Int32Array;
  edgeKind: Uint8Array;
  points: PointList;
}

export function layoutPart(boxes: Boxes, settings: Settings): PartLayout {
  const folded = foldFans(boxes, settings.nodeGap, settings.laneGap);
  if (folded === null) return layoutRanks(boxes, settings);
  return unfoldFans(boxes, folded, layoutRanks(folded.boxes, settings));
}

function layoutRanks(boxes: Boxes, settings: Settings): PartLayout {
  const { checkCancelled } = settings;
  checkCancelled();
  const flow = makeFlow(boxes);
  const proper = makeProper(boxes, flow, rankBoxes(boxes, flow), settings.laneSpan);
  checkCancelled();
  orderRanks(proper, boxes.byOrder, checkCancelled);
  const trunk = chooseTrunk(boxes, flow, proper);
  const left = new Float64Array(proper.count);
  const right = new Float64Array(proper.count);
  left.set(boxes.left);
  right.set(boxes.right);
  const extents = { left, right, boxGap: settings.nodeGap, dummyGap: settings.laneGap };
  const x = placeVertices(proper, trunk, extents, checkCancelled);
  checkCancelled();
  const routes = routeEdges(boxes, flow, proper, x, settings);
  const part: PartLayout = {
    x: x.subarray(0, boxes.count),
    y: routes.y,
    minX: routes.minX,
    maxX: routes.maxX,
    height: routes.height,
    trunk: trunk.onTrunk.subarray(0, boxes.count),
    rankCount: proper.rankCount,
    edgeStart: new Int32Array(boxes.source.length + 1),
    edgeKind: new Uint8Array(boxes.source.length),
    points: new PointList(2 * boxes.source.length + routes.points.length),
  };
  addPaths(part, boxes, flow, proper, routes);
  return part;
}

/** Give each edge the path of its flow edge, in its own direction. */
function addPaths(
  part: PartLayout,
  boxes: Boxes,
  flow: Flow,
  proper: Proper,
  routes: Routes,
): void {
  const { points, edgeStart, edgeKind } = part;
  for (let e = 0; e < boxes.source.length; e++) {
    edgeStart[e] = points.length;
    const f = flow.ofEdge[e]!;
    if (f < 0) {
      edgeKind[e] = EDGE_FEEDBACK;
      addLoop(part, boxes, boxes.source[e]!);
      continue;
    }
    const reversed = flow.reversed[f] === 1;
    edgeKind[e] = reversed ? EDGE_FEEDBACK : proper.lane[f] ? EDGE_LANE : EDGE_CURVE;
    const first = routes.start[f]!;
    const last = routes.start[f + 1]! - 1;
    for (let i = first; i <= last; i++) {
      const k = reversed ? last - (i - first) : i;
      points.push(routes.points.x[k]!, routes.points.y[k]!);
    }
  }
  edgeStart[boxes.source.length] = points.length;
}

const LOOP_PX = 10;

/** A self loop: a small ear on the box's right side. */
function addLoop(part: PartLayout, boxes: Boxes, v: number): void {
  const side = part.x[v]! + boxes.right[v]!;
  const y = part.y[v]!;
  const by = boxes.height[v]! / 4;
  part.points.push(side, y - by);
  part.points.push(side + LOOP_PX, y - by);
  part.points.push(side + LOOP_PX, y + by);
  part.points.push(side, y + by);
  part.maxX = Math.max(part.maxX, side + LOOP_PX);
}

/** Put the branches of folded fans back. */
function unfoldFans(boxes: Boxes, folded: FoldedFans, part: PartLayout): PartLayout {
  const { boxOf, edgeOf, fanOf, branchOf } = folded;
  const edgeCount = boxes.source.length;
  const whole: PartLayout = {
    ...part,
    x: new Float64Array(boxes.count),
    y: new Float64Array(boxes.count),
    trunk: new Uint8Array(boxes.count),
    edgeStart: new Int32Array(edgeCount + 1),
    edgeKind: new Uint8Array(edgeCount),
    points: new PointList(6 * edgeCount),
  };
  const topOf = (box: number): number => part.y[box]! - folded.boxes.height[box]! / 2;
  for (let v = 0; v < boxes.count; v++) {
    if (fanOf[v]! >= 0) continue;
    whole.x[v] = part.x[boxOf[v]!]!;
    whole.y[v] = part.y[boxOf[v]!]!;
    whole.trunk[v] = part.trunk[boxOf[v]!]!;
  }
  folded.fans.forEach(({ branches }, i) => {
    const rows = folded.rows[i]!;
    branches.forEach((branch, place) => {
      branch.forEach((v, k) => {
        whole.x[v] = part.x[boxOf[v]!]! + rows.x[place]!;
        whole.y[v] = topOf(boxOf[v]!) + rows.top[place]![k]! + boxes.height[v]! / 2;
      });
    });
  });
  const { points } = whole;
  const bottomOf = (v: number): number => whole.y[v]! + boxes.height[v]! / 2;
  for (let e = 0; e < edgeCount; e++) {
    const begin = points.length;
    whole.edgeStart[e] = begin;
    const source = boxes.source[e]!;
    const target = boxes.target[e]!;
    const from = fanOf[source]!;
    const to = fanOf[target]!;
    const box = boxOf[from >= 0 ? source : target]!;
    const anchor = part.x[box]!;
    if (edgeOf[e] === -1) {
      points.push(whole.x[source]!, bottomOf(source));
      points.push(whole.x[target]!, whole.y[target]! - boxes.height[target]! / 2);
      continue;
    }
    whole.edgeKind[e] = part.edgeKind[edgeOf[e]!]!;
    if (from >= 0) {
      const rows = folded.rows[from]!;
      leaveRow(points, begin, rows, branchOf[source]!, anchor, topOf(box), bottomOf(source));
    }
    for (let i = part.edgeStart[edgeOf[e]!]!; i < part.edgeStart[edgeOf[e]! + 1]!; i++) {
      points.extend(begin, part.points.x[i]!, part.points.y[i]!);
    }
    if (to >= 0) {
      enterRow(points, begin, folded.rows[to]!, branchOf[target]!, anchor, topOf(box));
    }
  }
  whole.edgeStart[edgeCount] = points.length;
  return whole;
}
