/** Crossing reduction: orders every rank from left to right, by sweeps and transposition. */

import { numberPositions, type Proper } from "../proper.ts";
import { BarycenterSweep } from "./barycenter.ts";
import { CrossingCounter } from "./crossings.ts";
import { Transposition } from "./transpose.ts";

/** The most work: segments swept plus vertices compared. About 20 ms. */
const MOST_WORK = 1_500_000;
/** A search ends after this many rounds without fewer crossings. */
const ROUNDS_TO_END = 12;
/** Graphs with more vertices get one search. */
const MOST_VERTICES_FOR_TWO = 20_000;

/** Reorders `proper.layer` in place. */
export function orderRanks(proper: Proper, byOrder: Int32Array): void {
  const crossings = new CrossingCounter(proper);
  const sweeper = new BarycenterSweep(proper, crossings);
  const transposition = new Transposition(proper, crossings);
  let best = proper.layer;
  let fewest = Number.POSITIVE_INFINITY;
  let swept = 0;

  // One search starts at the sources, one at the sinks: they have different initial orders.
  const searches = proper.count < MOST_VERTICES_FOR_TWO ? 2 : 1;
  for (let search = 0; search < searches && fewest > 0; search++) {
    const mostWork = (MOST_WORK * (search + 1)) / searches;
    initialOrder(proper, byOrder, search === 0);
    crossings.markAllChanged();
    let stalled = 0;
    for (let round = 0; ; round++) {
      const found = crossings.total();
      stalled = found < fewest ? 0 : stalled + 1;
      if (found < fewest) {
        fewest = found;
        best = proper.layer.slice();
      }
      if (fewest === 0 || stalled > ROUNDS_TO_END || swept + transposition.work > mostWork) break;
      sweeper.sweep({
        downwards: (round & 1) === 0,
        byMedian: (round & 4) === 0,
        swapEqual: (round & 2) === 0,
      });
      swept += proper.segmentCount;
      transposition.run((round & 2) === 0);
    }
  }
  proper.layer.set(best);
  for (let rank = 0; rank < proper.rankCount; rank++) numberPositions(proper, rank);
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
