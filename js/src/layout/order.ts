/**
 * Orders every rank from left to right so that few segments cross: barycentre and median sweeps with sifting, and
 * whole paths moved where these get no further.
 */

import { numberPositions, type Proper } from "./proper.ts";
import { Sweeper } from "./sweeper.ts";

/** Pairs of vertices or places weighed against each other at most: about 20 ms. */
const MOST_WORK = 1_500_000;
/** Rounds without fewer crossings: then paths are moved, too, then the search goes on from the best, then it ends. */
const ROUNDS_TO_PATHS = 2;
const ROUNDS_TO_BEST = 4;
const ROUNDS_TO_END = 6;

/**
 * Reorders `proper.layer` in place.
 *
 * @returns the number of crossings left, edges of a bundle counted once
 */
export function orderRanks(
  proper: Proper,
  byOrder: Int32Array,
  checkCancelled: () => void,
): number {
  const weight = segmentWeights(proper);
  const sweeper = new Sweeper(proper, weight);
  let best: Int32Array | null = null;
  let bestCrossings = Number.POSITIVE_INFINITY;

  // One search begins at the sources, one at the sinks: each leads the sweeps another way.
  const starts = proper.count < 20_000 ? 2 : 1;
  for (let start = 0; start < starts && bestCrossings > 0; start++) {
    const mostWork = (MOST_WORK * (start + 1)) / starts;
    initialOrder(proper, byOrder, start === 0);
    sweeper.restart();
    let crossings = sweeper.countAll();
    let stall = 0;
    for (let round = 0; ; round++) {
      if (crossings < bestCrossings) {
        stall = 0;
        bestCrossings = crossings;
        best = proper.layer.slice();
      } else if (++stall === ROUNDS_TO_BEST) {
        proper.layer.set(best!);
        for (let rank = 0; rank < proper.rankCount; rank++) numberPositions(proper, rank);
        sweeper.restart();
      }
      if (bestCrossings === 0 || stall > ROUNDS_TO_END || sweeper.work > mostWork) break;
      checkCancelled();
      sweeper.sweep((round & 1) === 0, (round & 4) === 0, (round & 2) === 0);
      sweeper.sift((round & 2) === 0);
      if (stall >= ROUNDS_TO_PATHS) {
        sweeper.movePaths(true, mostWork);
        sweeper.movePaths(false, mostWork);
      }
      crossings = sweeper.countAll();
    }
  }

  if (best !== null) proper.layer.set(best);
  for (let rank = 0; rank < proper.rankCount; rank++) numberPositions(proper, rank);
  if (bestCrossings === 0) return 0;
  weight.fill(1);
  sweeper.restart();
  return sweeper.countAll();
}

/** What each further edge adds to a line that several edges share: it is one line, but the eye follows each of them. */
const SHARED_WEIGHT = 0.3;

function segmentWeights(proper: Proper): Float64Array {
  const weight = new Float64Array(proper.segmentCount).fill(1);
  const dummies = proper.count - proper.boxCount;
  const carried = new Float64Array(dummies);
  // A chain's dummies are numbered downwards.
  for (let i = dummies - 1; i >= 0; i--) {
    const v = proper.boxCount + i;
    for (let k = proper.downStart[v]!; k < proper.downStart[v + 1]!; k++) {
      const s = proper.down[k]!;
      carried[i]! += s < dummies ? carried[s]! : 1;
    }
    weight[i] = 1 + SHARED_WEIGHT * (carried[i]! - 1);
  }
  return weight;
}

/** A depth-first walk from the sources (or, upwards, from the sinks) fills the ranks from left to right. */
function initialOrder(proper: Proper, byOrder: Int32Array, downwards: boolean): void {
  const { count, boxCount, rank, layer, layerStart, segmentFrom, segmentTo } = proper;
  const start = downwards ? proper.downStart : proper.upStart;
  const list = downwards ? proper.down : proper.up;
  const ahead = downwards ? segmentTo : segmentFrom;
  const backStart = downwards ? proper.upStart : proper.downStart;
  const seen = new Uint8Array(count);
  const fill = layerStart.slice(0, proper.rankCount);
  const next = start.slice(0, count);
  const stack = new Int32Array(count);
  for (let pass = 0; pass < 2; pass++) {
    for (let i = 0; i < boxCount; i++) {
      const root = byOrder[downwards ? i : boxCount - 1 - i]!;
      if (seen[root] || (pass === 0 && backStart[root] !== backStart[root + 1])) continue;
      let depth = 0;
      stack[0] = root;
      seen[root] = 1;
      layer[fill[rank[root]!]!++] = root;
      while (depth >= 0) {
        const v = stack[depth]!;
        if (next[v]! >= start[v + 1]!) {
          depth--;
          continue;
        }
        const w = ahead[list[next[v]!++]!]!;
        if (seen[w]) continue;
        seen[w] = 1;
        layer[fill[rank[w]!]!++] = w;
        stack[++depth] = w;
      }
    }
  }
  for (let r = 0; r < proper.rankCount; r++) numberPositions(proper, r);
}
