/** Where edges meet the top and bottom of their boxes: side by side, in the order of their other ends. */

import type { Boxes, Flow } from "./flow.ts";
import type { Lane } from "./lanes.ts";
import type { Proper } from "./proper.ts";

/** Offsets from the anchor in px. */
export interface Ports {
  /** Of each segment, at the bottom of its upper box and at the top of its lower box. */
  atFrom: Float64Array;
  atTo: Float64Array;
  /** Of each lane at the bottom of its source, and of each flow edge in a lane at the top of its box. */
  laneFrom: Float64Array;
  laneTo: Float64Array;
}

/** Room left free at either end of a box's side, in px. */
const CORNER_PX = 8;

export function spreadPorts(
  boxes: Boxes,
  flow: Flow,
  proper: Proper,
  lanes: readonly Lane[],
  x: Float64Array,
  spacing: number,
): Ports {
  const { boxCount, segmentCount, segmentFrom, segmentTo } = proper;
  // Slots: the segments, then the lanes (or the lanes' flow edges).
  const below = new Float64Array(segmentCount + lanes.length);
  const above = new Float64Array(segmentCount + flow.count);
  const leaving: Array<number[] | undefined> = new Array(lanes.length > 0 ? boxCount : 0);
  const arriving: Array<number[] | undefined> = new Array(leaving.length);
  const toTheRight = new Uint8Array(
    lanes.length > 0 ? segmentCount + flow.count + lanes.length : 0,
  );
  lanes.forEach((lane, i) => {
    leaving[lane.source] ??= [];
    leaving[lane.source]!.push(i);
    for (const f of lane.edges) {
      toTheRight[f] = lane.right ? 1 : 0;
      arriving[flow.to[f]!] ??= [];
      arriving[flow.to[f]!]!.push(f);
    }
  });

  let slots = new Int32Array(64);
  let aside = new Float64Array(64);
  const spread = (
    v: number,
    start: number,
    end: number,
    list: Int32Array,
    ends: Int32Array,
    laneIds: readonly number[] | undefined,
    isRight: (id: number) => boolean,
    offsets: Float64Array,
  ): void => {
    const total = end - start + (laneIds?.length ?? 0);
    if (total < 2) return; // a single edge meets the anchor
    if (slots.length < total) {
      slots = new Int32Array(2 * total);
      aside = new Float64Array(2 * total);
    }
    let count = 0;
    const add = (slot: number, side: number): void => {
      slots[count] = slot;
      aside[count++] = side;
    };
    for (const id of laneIds ?? []) if (!isRight(id)) add(segmentCount + id, -1);
    for (let k = start; k < end; k++) {
      const by = x[ends[list[k]!]!]! - x[v]!;
      add(list[k]!, Math.abs(by) < 0.5 ? 0 : by);
    }
    for (const id of laneIds ?? []) if (isRight(id)) add(segmentCount + id, 1);

    let left = 0;
    let straight = 0;
    for (let i = 0; i < count; i++) {
      if (aside[i]! < 0) left++;
      else if (aside[i] === 0) straight++;
    }
    const right = count - left - straight;
    const most = straight > 0 ? Math.max(left, right) : (count - 1) / 2;
    const room = Math.min(boxes.left[v]!, boxes.right[v]!) - CORNER_PX;
    const step = Math.max(0, Math.min(spacing, room / most));
    for (let i = 0; i < count; i++) {
      let place = i - (count - 1) / 2;
      if (straight > 0) place = i < left ? i - left : Math.max(0, i - left - straight + 1);
      offsets[slots[i]!] = place * step;
    }
  };

  for (let v = 0; v < boxCount; v++) {
    const { downStart, down, upStart, up } = proper;
    const laneOut = (id: number): boolean => lanes[id]!.right;
    const laneIn = (id: number): boolean => toTheRight[id] === 1;
    spread(v, downStart[v]!, downStart[v + 1]!, down, segmentTo, leaving[v], laneOut, below);
    spread(v, upStart[v]!, upStart[v + 1]!, up, segmentFrom, arriving[v], laneIn, above);
  }
  const ports: Ports = {
    atFrom: below.subarray(0, segmentCount),
    laneFrom: below.subarray(segmentCount),
    atTo: above.subarray(0, segmentCount),
    laneTo: above.subarray(segmentCount),
  };
  keepFixedPorts(flow, proper, lanes, ports);
  return ports;
}

/** Ends that the caller has fixed stay where they are. */
function keepFixedPorts(flow: Flow, proper: Proper, lanes: readonly Lane[], ports: Ports): void {
  for (let f = 0; f < flow.count; f++) {
    const from = flow.fromPort[f]!;
    const to = flow.toPort[f]!;
    const tap = proper.tap[f]!;
    if (!Number.isNaN(to)) (tap < 0 ? ports.laneTo : ports.atTo)[tap < 0 ? f : tap] = to;
    if (Number.isNaN(from) || tap < 0) continue;
    const direct = proper.segmentFrom[tap]! < proper.boxCount;
    ports.atFrom[direct ? tap : proper.chain[flow.bundle[f]!]! - proper.boxCount] = from;
  }
  lanes.forEach((lane, i) => {
    const from = flow.fromPort[lane.edges[0]!]!;
    if (!Number.isNaN(from)) ports.laneFrom[i] = from;
  });
}
