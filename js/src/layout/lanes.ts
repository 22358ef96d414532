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
      const source = flow.from[f]!;
      lanes.push({ source, edges: [], lastRank: 0, right: x[source]! >= middle, track: 0 });
    }
    const lane = lanes[laneOfBundle[b]!]!;
    lane.edges.push(f);
    lane.lastRank = Math.max(lane.lastRank, proper.rank[flow.to[f]!]!);
  }
  assignTracks(lanes, proper.rank);
  return lanes;
}

/** Lanes whose ranks do not meet share a track; short ones stay near the picture. */
function assignTracks(lanes: Lane[], rank: Int32Array): void {
  const length = (lane: Lane): number => lane.lastRank - rank[lane.source]!;
  const free: { right: Array<Array<[number, number]>>; left: Array<Array<[number, number]>> } = {
    right: [],
    left: [],
  };
  for (const lane of [...lanes].sort((a, b) => length(a) - length(b))) {
    const tracks = lane.right ? free.right : free.left;
    const first = rank[lane.source]!;
    let track = tracks.findIndex((used) =>
      used.every(([from, to]) => lane.lastRank < from || first > to),
    );
    if (track < 0) track = tracks.push([]) - 1;
    tracks[track]!.push([first, lane.lastRank]);
    lane.track = track;
  }
}
