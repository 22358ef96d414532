/** The proper layered graph: a chain of dummies replaces a long edge, so that segments join neighbouring ranks. */

import { groupBy } from "../adjacency.ts";
import type { Boxes, Flow } from "./flow.ts";

/**
 * Vertices 0 .. boxCount - 1 are boxes, the others dummies. All edges of a bundle share one chain: a tensor
 * with many far consumers is one line with branches. Edges over very many ranks are lanes, without dummies.
 */
export interface Proper {
  boxCount: number;
  count: number;
  rank: Int32Array;
  rankCount: number;
  /** Rank r is layer[layerStart[r]] .. layer[layerStart[r + 1] - 1], from left to right. */
  layerStart: Int32Array;
  layer: Int32Array;
  /** Index of each vertex in `layer`. */
  position: Int32Array;
  /** Segment s leads from segmentFrom[s] down to segmentTo[s]. Segment i ends at dummy boxCount + i; the others follow. */
  segmentCount: number;
  segmentFrom: Int32Array;
  segmentTo: Int32Array;
  /**
   * How many places each side of a box with fixed ports has; other boxes have one. 1 if no box has fixed
   * ports. `fromLevel` and `toLevel` are the places of a segment's ends.
   */
  levels: number;
  fromLevel: Uint8Array;
  toLevel: Uint8Array;
  /** Segments above and below each vertex. */
  upStart: Int32Array;
  up: Int32Array;
  downStart: Int32Array;
  down: Int32Array;
  /** 1 for each flow edge in a side lane. */
  lane: Uint8Array;
  /** First dummy of each bundle's chain. */
  chain: Int32Array;
  /** Last segment of each flow edge, -1 for lanes. */
  tap: Int32Array;
}

export function makeProper(boxes: Boxes, flow: Flow, rank: Int32Array, laneSpan: number): Proper {
  const boxCount = boxes.count;
  const { from, to, bundle } = flow;
  const lane = new Uint8Array(flow.count);
  const reach = new Int32Array(flow.bundleCount);
  const budget = 2 * boxes.count + 1000;
  let dummies = 0;
  for (let limit = laneSpan; ; limit = limit >> 1) {
    dummies = 0;
    reach.fill(0);
    for (let f = 0; f < flow.count; f++) {
      const inner = rank[to[f]!]! - rank[from[f]!]! - 1;
      lane[f] = inner >= limit ? 1 : 0;
      const b = bundle[f]!;
      if (inner < limit && inner > reach[b]!) {
        dummies += inner - reach[b]!;
        reach[b] = inner;
      }
    }
    if (dummies <= budget || limit <= 4) break;
  }

  const count = boxCount + dummies;
  const fullRank = new Int32Array(count);
  fullRank.set(rank);
  const segmentCapacity = dummies + flow.count;
  const segmentFrom = new Int32Array(segmentCapacity);
  const segmentTo = new Int32Array(segmentCapacity);
  const chain = new Int32Array(flow.bundleCount).fill(-1);
  const tap = new Int32Array(flow.count).fill(-1);
  let nextDummy = boxCount;
  let segment = dummies;
  for (let f = 0; f < flow.count; f++) {
    if (lane[f]) continue;
    const b = bundle[f]!;
    const source = from[f]!;
    if (chain[b] === -1 && reach[b]! > 0) {
      chain[b] = nextDummy;
      for (let i = 0; i < reach[b]!; i++) {
        fullRank[nextDummy] = rank[source]! + 1 + i;
        segmentFrom[nextDummy - boxCount] = i === 0 ? source : nextDummy - 1;
        segmentTo[nextDummy - boxCount] = nextDummy;
        nextDummy++;
      }
    }
    const inner = rank[to[f]!]! - rank[source]! - 1;
    segmentFrom[segment] = inner === 0 ? source : chain[b]! + inner - 1;
    segmentTo[segment] = to[f]!;
    tap[f] = segment++;
  }

  let rankCount = 0;
  for (let v = 0; v < boxCount; v++) if (rank[v]! >= rankCount) rankCount = rank[v]! + 1;
  const layers = groupBy(fullRank, rankCount);
  const position = new Int32Array(count);
  for (let i = 0; i < count; i++) position[layers.list[i]!] = i;
  const ends = segmentTo.slice(0, segment);
  const starts = segmentFrom.slice(0, segment);
  const ups = groupBy(ends, count);
  const downs = groupBy(starts, count);
  return {
    boxCount,
    count,
    rank: fullRank,
    rankCount,
    layerStart: layers.start,
    layer: layers.list,
    position,
    segmentCount: segment,
    segmentFrom: starts,
    segmentTo: ends,
    ...portLevels(boxes, flow, tap, chain, segment, starts),
    upStart: ups.start,
    up: ups.list,
    downStart: downs.start,
    down: downs.list,
    lane,
    chain,
    tap,
  };
}

const LEVELS = 8;

function portLevels(
  boxes: Boxes,
  flow: Flow,
  tap: Int32Array,
  chain: Int32Array,
  segmentCount: number,
  tapFrom: Int32Array,
): Pick<Proper, "levels" | "fromLevel" | "toLevel"> {
  const isFixed = (port: number): boolean => !Number.isNaN(port);
  if (!flow.fromPort.some(isFixed) && !flow.toPort.some(isFixed)) {
    const none = new Uint8Array(segmentCount);
    return { levels: 1, fromLevel: none, toLevel: none };
  }
  const fromLevel = new Uint8Array(segmentCount).fill(LEVELS >> 1);
  const toLevel = fromLevel.slice();
  const level = (box: number, port: number): number => {
    if (!isFixed(port)) return LEVELS >> 1;
    const part = (port + boxes.left[box]!) / (boxes.left[box]! + boxes.right[box]! + 1);
    return Math.max(0, Math.min(LEVELS - 1, Math.floor(part * LEVELS)));
  };
  for (let f = 0; f < flow.count; f++) {
    if (tap[f]! < 0) continue;
    const first = chain[flow.bundle[f]!]!;
    const from = flow.from[f]!;
    toLevel[tap[f]!] = level(flow.to[f]!, flow.toPort[f]!);
    if (first < 0 || tapFrom[tap[f]!] === from) fromLevel[tap[f]!] = level(from, flow.fromPort[f]!);
    if (first >= 0) fromLevel[first - boxes.count] = level(from, flow.fromPort[f]!);
  }
  return { levels: LEVELS, fromLevel, toLevel };
}

/** Set `position` from `layer`. */
export function numberPositions(proper: Proper, rank: number): void {
  const { layer, layerStart, position } = proper;
  for (let i = layerStart[rank]!; i < layerStart[rank + 1]!; i++) position[layer[i]!] = i;
}

/** Sort the segments above each vertex of a rank from left to right. */
export function sortUps(proper: Proper, rank: number, next: Int32Array): void {
  if (rank === 0) return;
  const { layer, layerStart, upStart, up, downStart, down, segmentTo } = proper;
  for (let i = layerStart[rank]!; i < layerStart[rank + 1]!; i++)
    next[layer[i]!] = upStart[layer[i]!]!;
  for (let i = layerStart[rank - 1]!; i < layerStart[rank]!; i++) {
    const v = layer[i]!;
    for (let k = downStart[v]!; k < downStart[v + 1]!; k++) {
      up[next[segmentTo[down[k]!]!]!++] = down[k]!;
    }
  }
  if (proper.levels > 1) sortByLevel(proper, rank, upStart, up, proper.toLevel);
}

/** Sort the segments below each vertex of a rank from left to right. */
export function sortDowns(proper: Proper, rank: number, next: Int32Array): void {
  if (rank + 1 >= proper.rankCount) return;
  const { layer, layerStart, upStart, up, downStart, down, segmentFrom } = proper;
  for (let i = layerStart[rank]!; i < layerStart[rank + 1]!; i++)
    next[layer[i]!] = downStart[layer[i]!]!;
  for (let i = layerStart[rank + 1]!; i < layerStart[rank + 2]!; i++) {
    const v = layer[i]!;
    for (let k = upStart[v]!; k < upStart[v + 1]!; k++) {
      down[next[segmentFrom[up[k]!]!]!++] = up[k]!;
    }
  }
  if (proper.levels > 1) sortByLevel(proper, rank, downStart, down, proper.fromLevel);
}

/** Segments at a box with fixed ports keep the order of the ports. */
function sortByLevel(
  proper: Proper,
  rank: number,
  start: Int32Array,
  list: Int32Array,
  level: Uint8Array,
): void {
  for (let i = proper.layerStart[rank]!; i < proper.layerStart[rank + 1]!; i++) {
    const v = proper.layer[i]!;
    if (v >= proper.boxCount) continue;
    for (let k = start[v]! + 1; k < start[v + 1]!; k++) {
      const segment = list[k]!;
      let j = k - 1;
      while (j >= start[v]! && level[list[j]!]! > level[segment]!) {
        list[j + 1] = list[j]!;
        j--;
      }
      list[j + 1] = segment;
    }
  }
}
