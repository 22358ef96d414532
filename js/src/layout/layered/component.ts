/**
 * The layout of one connected component in the steps of Sugiyama: cycles are broken (`flow.ts`), boxes get
 * ranks (`rank.ts`), long edges get dummies (`proper.ts`), each rank gets an order with few crossings
 * (`ordering/`), vertices get coordinates (`coordinates.ts`), and edges get paths (`route.ts`).
 */

import { EDGE_CURVE, EDGE_FEEDBACK, EDGE_LANE, type LayoutOptions } from "../contract.ts";
import { PointList } from "../points.ts";
import type { ComponentLayout } from "./component_layout.ts";
import { assignCoordinates } from "./coordinates.ts";
import { foldFans } from "./fans/fold.ts";
import { unfoldFans } from "./fans/unfold.ts";
import { type Boxes, type Flow, makeFlow } from "./flow.ts";
import { chooseMainPath } from "./main_path.ts";
import { orderRanks } from "./ordering/order.ts";
import { makeProper, type Proper } from "./proper.ts";
import { rankBoxes } from "./rank.ts";
import { type Routes, routeEdges } from "./route.ts";

export type Settings = Required<LayoutOptions>;

export function settingsOf({
  nodeGap = 24,
  rankGap = 32,
  laneGap = 12,
  laneSpan = 200,
}: LayoutOptions): Settings {
  return { nodeGap, rankGap, laneGap, laneSpan: Math.max(1, laneSpan) };
}

export function layoutComponent(boxes: Boxes, settings: Settings): ComponentLayout {
  const folded = foldFans(boxes, settings.nodeGap, settings.laneGap);
  if (folded === null) return layoutRanks(boxes, settings);
  return unfoldFans(boxes, folded, layoutRanks(folded.boxes, settings));
}

function layoutRanks(boxes: Boxes, settings: Settings): ComponentLayout {
  const flow = makeFlow(boxes);
  const proper = makeProper(boxes, flow, rankBoxes(boxes, flow), settings.laneSpan);
  orderRanks(proper, boxes.byOrder);
  const mainPath = chooseMainPath(boxes, flow, proper);
  const left = new Float64Array(proper.count);
  const right = new Float64Array(proper.count);
  left.set(boxes.left);
  right.set(boxes.right);
  const extents = { left, right, boxGap: settings.nodeGap, dummyGap: settings.laneGap };
  const x = assignCoordinates(proper, mainPath, extents);
  const routes = routeEdges(boxes, flow, proper, x, settings);
  const part: ComponentLayout = {
    x: x.subarray(0, boxes.count),
    y: routes.y,
    minX: routes.minX,
    maxX: routes.maxX,
    height: routes.height,
    onMainPath: mainPath.isOn.subarray(0, boxes.count),
    rankCount: proper.rankCount,
    edgeStart: new Int32Array(boxes.source.length + 1),
    edgeKind: new Uint8Array(boxes.source.length),
    points: new PointList(2 * boxes.source.length + routes.points.length),
  };
  addPaths(part, boxes, flow, proper, routes);
  return part;
}

/** Give each edge the path of its flow edge, but in the direction of the edge. */
function addPaths(
  part: ComponentLayout,
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

/** A self loop: a small curve at the box's right side. */
function addLoop(part: ComponentLayout, boxes: Boxes, v: number): void {
  const side = part.x[v]! + boxes.right[v]!;
  const y = part.y[v]!;
  const by = boxes.height[v]! / 4;
  part.points.push(side, y - by);
  part.points.push(side + LOOP_PX, y - by);
  part.points.push(side + LOOP_PX, y + by);
  part.points.push(side, y + by);
  part.maxX = Math.max(part.maxX, side + LOOP_PX);
}
