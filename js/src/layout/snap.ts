/** Moves lines that pass a frame to where the frame's port is, so that they pass it straight. */

import { distance, type Extents } from "./extents.ts";
import type { Flow, Shapes } from "./flow.ts";
import type { Proper } from "./proper.ts";

/** A line that would get a bend at its other end instead moves no further than this, in px. */
const NEAR_PX = 24;

/** Shift chains (and the entry and exit ports they end at) to the fixed ports they meet, where there is room. */
export function snapToPorts(
  boxes: Shapes,
  flow: Flow,
  proper: Proper,
  extents: Extents,
  x: Float64Array,
): void {
  const { boxCount, segmentFrom, segmentTo, tap, chain } = proper;
  const moved: number[] = [];

  const hasRoom = (v: number, to: number): boolean => {
    const at = proper.position[v]!;
    const r = proper.rank[v]!;
    const spare = v >= boxCount ? extents.dummyGap / 2 : 0; // a straight line may pass this much nearer
    if (at > proper.layerStart[r]!) {
      const u = proper.layer[at - 1]!;
      if (x[u]! + distance(proper, extents, u, v) > to + spare + 1e-6) return false;
    }
    if (at + 1 < proper.layerStart[r + 1]!) {
      const w = proper.layer[at + 1]!;
      if (to + distance(proper, extents, v, w) > x[w]! + spare + 1e-6) return false;
    }
    return true;
  };
  const snap = (to: number, isFree: boolean): void => {
    const by = Math.abs(to - x[moved[0]!]!);
    if (by < 1e-6 || (!isFree && by > NEAR_PX)) return;
    if (moved.every((v) => hasRoom(v, to))) for (const v of moved) x[v] = to;
  };
  const isLonePort = (v: number): boolean =>
    v < boxCount &&
    boxes.pin[v] !== 0 &&
    proper.downStart[v + 1]! -
      proper.downStart[v]! +
      proper.upStart[v + 1]! -
      proper.upStart[v]! ===
      1;

  for (let f = 0; f < flow.count; f++) {
    if (tap[f]! < 0) continue;
    if (!Number.isNaN(flow.toPort[f]!) && boxes.pin[flow.to[f]!] === 0) {
      moved.length = 0;
      let v = segmentFrom[tap[f]!]!;
      while (v >= boxCount && (moved.length === 0 || x[v] === x[moved[0]!])) {
        moved.push(v);
        v = segmentFrom[v - boxCount]!;
      }
      const isFree = isLonePort(v);
      if (isFree) moved.push(v);
      if (moved.length > 0) snap(x[flow.to[f]!]! + flow.toPort[f]!, isFree);
    }
    if (!Number.isNaN(flow.fromPort[f]!) && boxes.pin[flow.from[f]!] === 0) {
      moved.length = 0;
      const last = segmentFrom[tap[f]!]!;
      if (last >= boxCount) {
        for (let v = chain[flow.bundle[f]!]!; v <= last; v++) {
          if (moved.length > 0 && x[v] !== x[moved[0]!]) break;
          moved.push(v);
        }
      }
      const end = segmentTo[tap[f]!]!;
      const isFree = isLonePort(end) && (last < boxCount || moved.at(-1) === last);
      if (isFree) moved.push(end);
      if (moved.length > 0) snap(x[flow.from[f]!]! + flow.fromPort[f]!, isFree);
    }
  }
}
