/** The moves of the ordering: sweeps by the places of neighbours, and swaps of neighbours in a rank. */

import { sortByKey } from "./adjacency.ts";
import { CrossingCounter } from "./crossings.ts";
import { numberPositions, type Proper, sortDowns, sortUps } from "./proper.ts";

/** Two boxes with more pairs of unsorted segments stay as the sweeps left them. */
const MOST_PAIRS = 4096;

export class Sweeper {
  private readonly counter = new CrossingCounter();
  private readonly next: Int32Array;
  private readonly spare: Int32Array;
  private readonly movable: Int32Array;
  private readonly key: Float64Array;
  /** Crossings between rank r and r + 1. */
  private readonly between: Int32Array;

  constructor(private readonly proper: Proper) {
    this.next = new Int32Array(proper.count);
    this.spare = new Int32Array(proper.count);
    this.movable = new Int32Array(proper.count);
    this.key = new Float64Array(proper.count);
    this.between = new Int32Array(proper.rankCount);
  }

  countAll(): number {
    let sum = 0;
    for (let rank = 0; rank + 1 < this.proper.rankCount; rank++) {
      this.between[rank] = this.counter.count(this.proper, rank, this.next);
      sum += this.between[rank]!;
    }
    return sum;
  }

  sweep(downwards: boolean, median: boolean, swapEqual: boolean): void {
    const last = this.proper.rankCount - 1;
    for (let i = 1; i <= last; i++) {
      this.orderRank(downwards ? i : last - i, downwards, median, swapEqual);
    }
  }

  /** Order one rank by the places of its neighbours in the rank before; vertices without any keep their place. */
  private orderRank(rank: number, downwards: boolean, median: boolean, swapEqual: boolean): void {
    const { proper, key, movable } = this;
    const { layer, layerStart, position } = proper;
    const from = layerStart[rank]!;
    const to = layerStart[rank + 1]!;
    if (to - from < 2) return;
    if (downwards) sortUps(proper, rank, this.next);
    else sortDowns(proper, rank, this.next);
    const start = downwards ? proper.upStart : proper.downStart;
    const list = downwards ? proper.up : proper.down;
    const end = downwards ? proper.segmentFrom : proper.segmentTo;
    const level = downwards ? proper.fromLevel : proper.toLevel;
    const { levels } = proper;
    const place = (k: number): number => position[end[list[k]!]!]! * levels + level[list[k]!]!;

    let count = 0;
    for (let i = from; i < to; i++) {
      const v = layer[swapEqual ? to - 1 - (i - from) : i]!;
      const first = start[v]!;
      const degree = start[v + 1]! - first;
      if (degree === 0) continue;
      if (median && degree > 2) {
        const half = degree >> 1;
        const middle = place(first + half);
        key[v] = degree & 1 ? middle : (middle + place(first + half - 1)) / 2;
      } else {
        let sum = 0;
        for (let k = first; k < first + degree; k++) sum += place(k);
        key[v] = sum / degree;
      }
      movable[count++] = v;
    }
    sortByKey(movable, 0, count, key, this.spare);
    let taken = 0;
    for (let i = from; i < to; i++) {
      const v = layer[i]!;
      if (start[v] !== start[v + 1]) layer[i] = movable[taken++]!;
    }
    numberPositions(proper, rank);
  }

  /** Swap neighbours while that removes crossings, in the ranks that have any. */
  transpose(swapEqual: boolean): void {
    const { proper, between } = this;
    this.countAll();
    if (swapEqual) {
      // Moves that cost nothing lead out of dead ends.
      for (let rank = 0; rank < proper.rankCount; rank++) {
        const dirty = between[rank]! > 0 || (rank > 0 && between[rank - 1]! > 0);
        if (dirty) this.transposeRank(rank, 0);
      }
    }
    for (let round = 0; round < 6; round++) {
      let improved = 0;
      for (let rank = 0; rank < proper.rankCount; rank++) {
        const dirty = between[rank]! > 0 || (rank > 0 && between[rank - 1]! > 0);
        if (dirty) improved += this.transposeRank(rank, 1);
      }
      if (improved === 0) break;
    }
  }

  private transposeRank(rank: number, least: number): number {
    const { proper, next } = this;
    const { layer, layerStart, position } = proper;
    const from = layerStart[rank]!;
    const to = layerStart[rank + 1]!;
    if (to - from < 2) return 0;
    sortUps(proper, rank, next);
    sortDowns(proper, rank, next);
    let gained = 0;
    for (let again = true; again; ) {
      again = false;
      for (let i = from; i + 1 < to; i++) {
        const v = layer[i]!;
        const w = layer[i + 1]!;
        const gain =
          this.gain(v, w, proper.upStart, proper.up, proper.segmentFrom, proper.fromLevel) +
          this.gain(v, w, proper.downStart, proper.down, proper.segmentTo, proper.toLevel);
        if (gain < least) continue;
        layer[i] = w;
        layer[i + 1] = v;
        position[w] = i;
        position[v] = i + 1;
        gained += gain;
        again = least > 0;
      }
    }
    return gained;
  }

  /** Crossings removed on one side when `v`, now left of `w`, goes to its right. Lists are sorted. */
  private gain(
    v: number,
    w: number,
    start: Int32Array,
    list: Int32Array,
    end: Int32Array,
    level: Uint8Array,
  ): number {
    const { position, levels } = this.proper;
    const firstV = start[v]!;
    const endV = start[v + 1]!;
    const firstW = start[w]!;
    const endW = start[w + 1]!;
    if (firstV === endV || firstW === endW) return 0;
    const place = (k: number): number => position[end[list[k]!]!]! * levels + level[list[k]!]!;
    // Lists of boxes with fixed ports follow their ports, not the places of the other ends.
    const sorted = levels === 1;
    if (!sorted && (endV - firstV) * (endW - firstW) > MOST_PAIRS) return 0;
    let gain = 0;
    let less = firstW;
    let lessOrEqual = firstW;
    for (let k = firstV; k < endV; k++) {
      const at = place(k);
      if (sorted) {
        while (less < endW && place(less) < at) less++;
        while (lessOrEqual < endW && place(lessOrEqual) <= at) lessOrEqual++;
        gain += less - firstW - (endW - lessOrEqual);
      } else {
        for (let j = firstW; j < endW; j++) gain += Math.sign(at - place(j));
      }
    }
    return gain;
  }
}
