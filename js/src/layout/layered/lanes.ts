/** Side lanes: edges over very many ranks run next to the picture, one lane for each bundle. */

import type { Flow } from "./flow.ts";
import type { Proper } from "./proper.ts";

export interface Lane {
  /** The lane's source box, and its flow edges. */
  source: number;
  edges: number[];
  lastRank: number;
  right: boolean;
  /** Number of the track. Track 0 is next to the picture. */
  track: number;
}

export function collectLanes(flow: Flow, proper: Proper, x: Float64Array, middle: number): Lane[] {
  const ofBundle = new Map<number, Lane>();
  for (let f = 0; f < flow.count; f++) {
    if (!proper.lane[f]) continue;
    const source = flow.from[f]!;
    const known = ofBundle.get(flow.bundle[f]!);
    const lane = known ?? { source, edges: [], lastRank: 0, right: x[source]! >= middle, track: 0 };
    ofBundle.set(flow.bundle[f]!, lane);
    lane.edges.push(f);
    lane.lastRank = Math.max(lane.lastRank, proper.rank[flow.to[f]!]!);
  }
  const lanes = [...ofBundle.values()];
  assignTracks(lanes, proper.rank);
  return lanes;
}

/** Lanes without a common rank can share a track. */
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
