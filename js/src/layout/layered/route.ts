/** Gives ranks their y and edges their paths. */

import { PointList } from "../points.ts";
import type { Boxes, Flow } from "./flow.ts";
import { collectLanes } from "./lanes.ts";
import { spreadPorts } from "./ports.ts";
import type { Proper } from "./proper.ts";

export interface Gaps {
  rankGap: number;
  laneGap: number;
}

export interface Routes {
  /** Centre of each box. */
  y: Float64Array;
  height: number;
  minX: number;
  maxX: number;
  /** Points of flow edge f: [start[f], start[f + 1]), downwards. */
  start: Int32Array;
  points: PointList;
}

/**
 * A gap grows with its longest horizontal step, so that edges stay steep. It grows by at most this
 * many px.
 */
const MOST_EXTRA_GAP_PX = 120;

export function routeEdges(
  boxes: Boxes,
  flow: Flow,
  proper: Proper,
  x: Float64Array,
  gaps: Gaps,
): Routes {
  const { boxCount, rank, segmentFrom, segmentTo } = proper;
  let minX = Number.POSITIVE_INFINITY;
  let maxX = Number.NEGATIVE_INFINITY;
  for (let v = 0; v < proper.count; v++) {
    minX = Math.min(minX, x[v]! - (v < boxCount ? boxes.left[v]! : 0));
    maxX = Math.max(maxX, x[v]! + (v < boxCount ? boxes.right[v]! : 0));
  }
  const lanes = collectLanes(flow, proper, x, (minX + maxX) / 2);
  const ports = spreadPorts(boxes, flow, proper, x, gaps.laneGap);
  const bands = stackRanks(boxes, proper, x, gaps);

  const y = new Float64Array(boxCount);
  for (let v = 0; v < boxCount; v++) y[v] = (bands.top[rank[v]!]! + bands.bottom[rank[v]!]!) / 2;

  const laneX = new Float64Array(flow.count);
  const [left, right] = [minX, maxX];
  for (const lane of lanes) {
    const away = (lane.track + 1) * gaps.laneGap;
    const at = lane.right ? right + away : left - away;
    for (const f of lane.edges) laneX[f] = at;
    minX = Math.min(minX, at);
    maxX = Math.max(maxX, at);
  }

  const points = new PointList(2 * (flow.count + proper.count));
  const start = new Int32Array(flow.count + 1);
  for (let f = 0; f < flow.count; f++) {
    const begin = points.length;
    start[f] = begin;
    const from = flow.from[f]!;
    const to = flow.to[f]!;
    const bottom = y[from]! + boxes.height[from]! / 2;
    const top = y[to]! - boxes.height[to]! / 2;
    if (proper.lane[f]) {
      const fromX = x[from]! + (flow.fromPort[f]! || 0);
      const toX = x[to]! + (flow.toPort[f]! || 0);
      const outY = bands.bottom[rank[from]!]! + gaps.laneGap / 2;
      const inY = bands.top[rank[to]!]! - gaps.laneGap / 2;
      points.extend(begin, fromX, bottom);
      points.extend(begin, fromX, outY);
      points.push(laneX[f]!, outY);
      points.extend(begin, laneX[f]!, inY);
      points.push(toX, inY);
      points.extend(begin, toX, top);
      continue;
    }
    const tap = proper.tap[f]!;
    const chain = proper.chain[flow.bundle[f]!]!;
    const direct = segmentFrom[tap]! < boxCount;
    const fromX = x[from]! + ports.atFrom[direct ? tap : chain - boxCount]!;
    points.extend(begin, fromX, bottom);
    points.extend(begin, fromX, bands.bottom[rank[from]!]!);
    if (!direct) {
      for (let dummy = chain; dummy <= segmentFrom[tap]!; dummy++) {
        points.extend(begin, x[dummy]!, bands.top[rank[dummy]!]!);
        points.extend(begin, x[dummy]!, bands.bottom[rank[dummy]!]!);
      }
    }
    const toX = x[segmentTo[tap]!]! + ports.atTo[tap]!;
    points.extend(begin, toX, bands.top[rank[to]!]!);
    points.extend(begin, toX, top);
  }
  start[flow.count] = points.length;
  return { y, height: bands.bottom[proper.rankCount - 1]!, minX, maxX, start, points };
}

/** y of the upper and lower edge of each rank. */
interface Bands {
  top: Float64Array;
  bottom: Float64Array;
}

/** The gap between a frame and its first or last rank, as a fraction of a full gap. */
const FRAME_GAP = 0.75;

function stackRanks(boxes: Boxes, proper: Proper, x: Float64Array, gaps: Gaps): Bands {
  const { rankCount, rank, boxCount } = proper;
  const height = new Float64Array(rankCount);
  const sideways = new Float64Array(rankCount);
  for (let v = 0; v < boxCount; v++) {
    height[rank[v]!] = Math.max(height[rank[v]!]!, boxes.height[v]!);
  }
  for (let s = 0; s < proper.segmentCount; s++) {
    const from = proper.segmentFrom[s]!;
    const by = Math.abs(x[from]! - x[proper.segmentTo[s]!]!);
    if (by > sideways[rank[from]!]!) sideways[rank[from]!] = by;
  }
  const bands: Bands = { top: new Float64Array(rankCount), bottom: new Float64Array(rankCount) };
  const [first, last] = [proper.layer[0]!, proper.layer[proper.count - 1]!];
  const enters = first < boxCount && boxes.pin[first] === -1;
  const leaves = last < boxCount && boxes.pin[last] === 1;
  let y = 0;
  for (let r = 0; r < rankCount; r++) {
    const isAtFrame = (enters && r === 0) || (leaves && r === rankCount - 2);
    const least = isAtFrame ? gaps.rankGap * FRAME_GAP : gaps.rankGap;
    bands.top[r] = y;
    y += height[r]!;
    bands.bottom[r] = y;
    const steep = Math.min(MOST_EXTRA_GAP_PX, Math.max(0, (sideways[r]! - 200) * 0.08));
    y += least + steep;
  }
  return bands;
}
