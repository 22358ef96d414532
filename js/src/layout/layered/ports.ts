/** Where edges meet the top and bottom of their boxes: side by side, in the order of their other ends. */

import type { Boxes, Flow } from "./flow.ts";
import type { Proper } from "./proper.ts";

/** Offsets of each segment's ends from the anchors, in px. */
export interface Ports {
  /** At the bottom of the segment's upper box. */
  atFrom: Float64Array;
  /** At the top of the segment's lower box. */
  atTo: Float64Array;
}

/** Free space at either end of a box's side, in px. */
const CORNER_PX = 8;

export function spreadPorts(
  boxes: Boxes,
  flow: Flow,
  proper: Proper,
  x: Float64Array,
  spacing: number,
): Ports {
  const { boxCount, segmentFrom, segmentTo, downStart, down, upStart, up } = proper;
  const atFrom = new Float64Array(proper.segmentCount);
  const atTo = new Float64Array(proper.segmentCount);
  /** @param segments of one side of box v, from left to right */
  const spread = (v: number, segments: Int32Array, ends: Int32Array, offsets: Float64Array) => {
    const count = segments.length;
    if (count < 2) return; // a single edge ends at the anchor
    let left = 0;
    let straight = 0;
    for (const segment of segments) {
      const aside = x[ends[segment]!]! - x[v]!;
      if (Math.abs(aside) < 0.5) straight++;
      else if (aside < 0) left++;
    }
    const right = count - left - straight;
    const most = straight > 0 ? Math.max(left, right) : (count - 1) / 2;
    const room = Math.min(boxes.left[v]!, boxes.right[v]!) - CORNER_PX;
    const step = Math.max(0, Math.min(spacing, room / most));
    segments.forEach((segment, i) => {
      let place = i - (count - 1) / 2;
      if (straight > 0) place = i < left ? i - left : Math.max(0, i - left - straight + 1);
      offsets[segment] = place * step;
    });
  };
  for (let v = 0; v < boxCount; v++) {
    spread(v, down.subarray(downStart[v]!, downStart[v + 1]!), segmentTo, atFrom);
    spread(v, up.subarray(upStart[v]!, upStart[v + 1]!), segmentFrom, atTo);
  }
  // Ends of edges that the caller has fixed are not moved.
  for (let f = 0; f < flow.count; f++) {
    const tap = proper.tap[f]!;
    if (tap < 0) continue;
    if (!Number.isNaN(flow.toPort[f]!)) atTo[tap] = flow.toPort[f]!;
    if (Number.isNaN(flow.fromPort[f]!)) continue;
    const direct = segmentFrom[tap]! < boxCount;
    atFrom[direct ? tap : proper.chain[flow.bundle[f]!]! - boxCount] = flow.fromPort[f]!;
  }
  return { atFrom, atTo };
}
