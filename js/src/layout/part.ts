/** The layered layout of one connected part, step by step. */

import { EDGE_CURVE, EDGE_FEEDBACK, EDGE_LANE, type LayoutOptions } from "./contract.ts";
import { foldFans } from "./fans.ts";
import { type Boxes, type Flow, makeFlow } from "./flow.ts";
import { orderRanks } from "./order.ts";
import type { PartLayout } from "./part_layout.ts";
import { placeVertices } from "./place.ts";
import { PointList } from "./points.ts";
import { makeProper, type Proper } from "./proper.ts";
import { rankBoxes } from "./rank.ts";
import { type Routes, routeEdges } from "./route.ts";
import { chooseTrunk } from "./trunk.ts";
import { unfoldFans } from "./unfold_fans.ts";

export type Settings = Required<LayoutOptions>;

export function settingsOf({
  nodeGap = 24,
  rankGap = 32,
  laneGap = 12,
  laneSpan = 200,
}: LayoutOptions): Settings {
  return { nodeGap, rankGap, laneGap, laneSpan: Math.max(1, laneSpan) };
}

export function layoutPart(boxes: Boxes, settings: Settings): PartLayout {
  const folded = foldFans(boxes, settings.nodeGap, settings.laneGap);
  if (folded === null) return layoutRanks(boxes, settings);
  return unfoldFans(boxes, folded, layoutRanks(folded.boxes, settings));
}

function layoutRanks(boxes: Boxes, settings: Settings): PartLayout {
  const flow = makeFlow(boxes);
  const proper = makeProper(boxes, flow, rankBoxes(boxes, flow), settings.laneSpan);
  orderRanks(proper, boxes.byOrder);
  const trunk = chooseTrunk(boxes, flow, proper);
  const left = new Float64Array(proper.count);
  const right = new Float64Array(proper.count);
  left.set(boxes.left);
  right.set(boxes.right);
  const extents = { left, right, boxGap: settings.nodeGap, dummyGap: settings.laneGap };
  const x = placeVertices(proper, trunk, extents);
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
