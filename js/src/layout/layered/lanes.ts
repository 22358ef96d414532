/** Side lanes: edges over very many ranks run beside the picture, one lane for all edges of a bundle. */

import type { Flow } from "./flow.ts";
import type { Proper } from "./proper.ts";

export interface Lane {
  /** The box it comes from, and its flow edges. */
  source: number;
  edges: number[];
  lastRank: number;
  right: boolean;
  /** Number of the track, 0 next to the picture. */
  track: number;
}

export function collectLanes(flow: Flow, proper: Proper, x: Float64Array, middle: number): Lane[] {
  const laneOfBundle = new Int32Array(flow.bundleCount).fill(-1);
  const lanes: Lane[] = [];
  for (let f = 0; f < flow.count; f++) {
    if (!proper.lane[f]) continue;
    const b = flow.bundle[f]!;
    if (laneOfBundle[b] === -1) {
      laneOfBundle[b] = lanes.length;
      lanes.push({ source: flow.from[f]!, edges: [], lastRank: 0, right: true, track: 0 });
    }
    const lane = lanes[laneOfBundle[b]!]!;
    lane.edges.push(f);
    lane.lastRank = Math.max(lane.lastRank, proper.rank[flow.to[f]!]!);
  }
  for (const lane of lanes) lane.right = x[lane.source]! >= middle;
  assignTracks(lanes, proper.rank);
  return lanes;
}

/** Lanes whose ranks do not meet share a track. */
function assignTracks(lanes: Lane[], rank: Int32Array): void {
  /** The last rank of each track's last lane. */
  const right: number[] = [];
  const left: number[] = [];
  for (const lane of [...lanes].sort((a, b) => rank[a.source]! - rank[b.source]!)) {
    const tracks = lane.right ? right : left;
    const free = tracks.findIndex((lastRank) => lastRank < rank[lane.source]!);
    lane.track = free >= 0 ? free : tracks.length;
    tracks[lane.track] = lane.lastRank;
  }
}

/** y of the upper and the lower end of each rank. */
export interface Bands {
  top: Float64Array;
  bottom: Float64Array;
}

/** Horizontal tracks for lanes in the gap below each rank. */
export interface Channels {
  count: Int32Array;
  /** Channel of each lane below its source, and of each flow edge above its target. */
  leave: Int32Array;
  arrive: Int32Array;
  y(bands: Bands, rank: number, channel: number, isLeaving: boolean): number;
}

export function countChannels(lanes: readonly Lane[], flow: Flow, proper: Proper): Channels {
  const count = new Int32Array(proper.rankCount);
  const leave = new Int32Array(lanes.length);
  const arrive = new Int32Array(flow.count);
  // Lanes that leave turn above those that arrive: beside their own boxes, where other lines still are upright.
  lanes.forEach((lane, i) => {
    leave[i] = count[proper.rank[lane.source]!]!++;
  });
  lanes.forEach((lane) => {
    const ofRank = new Map<number, number>();
    for (const f of lane.edges) {
      const gap = proper.rank[flow.to[f]!]! - 1;
      let channel = ofRank.get(gap);
      if (channel === undefined) {
        channel = count[gap]!++;
        ofRank.set(gap, channel);
      }
      arrive[f] = channel;
    }
  });
  const y = (bands: Bands, rank: number, channel: number, isLeaving: boolean): number => {
    const low = bands.bottom[rank]!;
    const high = bands.top[rank + 1]!;
    return low + ((high - low) * (channel + (isLeaving ? 0.5 : 1.5))) / (count[rank]! + 1);
  };
  return { count, leave, arrive, y };
}
