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

/** More lanes than this are placed from the top down: quicker, but with more crossings. */
const FEW_LANES = 500;

/** Lanes whose ranks do not meet share a track; short ones stay near the picture. */
function assignTracks(lanes: Lane[], rank: Int32Array): void {
  const start = (lane: Lane): number => rank[lane.source]!;
  const length = (lane: Lane): number => lane.lastRank - start(lane);
  const isFew = lanes.length <= FEW_LANES;
  const right: Lane[][] = [];
  const left: Lane[][] = [];
  const apart = (a: Lane, b: Lane): boolean => a.lastRank < start(b) || start(a) > b.lastRank;
  for (const lane of [...lanes].sort((a, b) =>
    isFew ? length(a) - length(b) : start(a) - start(b),
  )) {
    const tracks = lane.right ? right : left;
    let track = tracks.findIndex((used) =>
      isFew ? used.every((other) => apart(lane, other)) : apart(lane, used.at(-1)!),
    );
    if (track < 0) track = tracks.push([]) - 1;
    tracks[track]!.push(lane);
    lane.track = track;
  }
}
