/** Orders every rank from left to right so that few segments cross: barycentre and median sweeps with transposition. */

import { numberPositions, type Proper } from "./proper.ts";
import { Sweeper } from "./sweeper.ts";

/** Reorders `proper.layer` in place. @returns the number of crossings left. */
export function orderRanks(
  proper: Proper,
  byOrder: Int32Array,
  checkCancelled: () => void,
): number {
  const sweeper = new Sweeper(proper);
  const effort = Math.max(4, Math.min(96, Math.floor(30_000 / (proper.count + 1))));
  const patience = proper.count < 700 ? 26 : 17;
  let best: Int32Array | null = null;
  let bestCrossings = Number.POSITIVE_INFINITY;

  // Small graphs get more beginnings: each leads the sweeps another way.
  const starts = proper.count < 700 ? 6 : proper.count < 20_000 ? 2 : 1;
  for (let start = 0; start < starts && bestCrossings > 0; start++) {
    const phase = 3 * (start >> 1);
    initialOrder(proper, byOrder, (start & 1) === 0);
    let crossings = sweeper.countAll();
    let stall = 0;
    for (let round = 0; ; round++) {
      if (crossings < bestCrossings) {
        stall = 0;
        bestCrossings = crossings;
        best = proper.layer.slice();
      } else if (++stall % 9 === 0) {
        // Lost: go on from the best so far.
        proper.layer.set(best!);
        for (let rank = 0; rank < proper.rankCount; rank++) numberPositions(proper, rank);
      }
      if (bestCrossings === 0 || round >= effort || stall > patience) break;
      checkCancelled();
      const turn = round + phase;
      sweeper.sweep((turn & 1) === 0, (turn & 4) === 0, (turn & 2) === 0);
      sweeper.transpose((turn & 2) === 0);
      crossings = sweeper.countAll();
    }
  }

  if (best !== null) proper.layer.set(best);
  for (let rank = 0; rank < proper.rankCount; rank++) numberPositions(proper, rank);
  return bestCrossings;
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
