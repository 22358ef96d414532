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
  for (const lane of lanes) {
    const right = x[lane.source]! >= middle;
    const more = lanes.length <= FEW_LANES ? crossedMoreOnTheRight(lane, flow, proper, x) : 0;
    lane.right = more === 0 ? right : more < 0;
  }
  assignTracks(lanes, proper.rank);
  return lanes;
}

/** More lanes than this are placed from the top down and go to the nearer side: quicker, but with more crossings. */
const FEW_LANES = 500;

/** How many more lines cross a lane's way out of its rank, and back in, if it runs on the right. */
function crossedMoreOnTheRight(lane: Lane, flow: Flow, proper: Proper, x: Float64Array): number {
  const { layer, layerStart, downStart, down, segmentTo, rank } = proper;
  let more = 0;
  const cross = (gap: number, end: number): void => {
    for (let i = layerStart[gap]!; i < layerStart[gap + 1]!; i++) {
      const v = layer[i]!;
      for (let k = downStart[v]!; k < downStart[v + 1]!; k++) {
        const w = segmentTo[down[k]!]!;
        const at = v === end ? x[w]! : w === end ? x[v]! : (x[v]! + x[w]!) / 2;
        more += Math.sign(Math.round(at - x[end]!));
      }
    }
  };
  cross(rank[lane.source]!, lane.source);
  for (const f of lane.edges) cross(rank[flow.to[f]!]! - 1, flow.to[f]!);
  return more;
}

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
