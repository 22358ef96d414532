/** Sweeps that order each rank by the barycentre or median of its neighbours in the previous rank. */

import { sortByKey } from "../../adjacency.ts";
import { numberPositions, type Proper, sortDowns, sortUps } from "../proper.ts";
import type { CrossingCounter } from "./crossings.ts";

export interface SweepOptions {
  /** Whether the sweep goes from the first rank to the last; else from the last to the first. */
  downwards: boolean;
  /** Order by the median of the neighbours' positions; else by their mean, the barycentre. */
  byMedian: boolean;
  /** Swap vertices with equal places, which can help the search out of a local minimum. */
  swapEqual: boolean;
}

export class BarycenterSweep {
  private readonly next: Int32Array;
  private readonly movable: Int32Array;
  private readonly key: Float64Array;

  constructor(
    private readonly proper: Proper,
    private readonly crossings: CrossingCounter,
  ) {
    this.next = new Int32Array(proper.count);
    this.movable = new Int32Array(proper.count);
    this.key = new Float64Array(proper.count);
  }

  sweep(options: SweepOptions): void {
    const last = this.proper.rankCount - 1;
    for (let i = 1; i <= last; i++) {
      this.orderRank(options.downwards ? i : last - i, options);
    }
  }

  /** Order one rank. Vertices without neighbours in the previous rank keep their position. */
  private orderRank(rank: number, { downwards, byMedian, swapEqual }: SweepOptions): void {
    const { proper, key, movable } = this;
    const { layer, layerStart, position, levels } = proper;
    const from = layerStart[rank]!;
    const to = layerStart[rank + 1]!;
    if (to - from < 2) return;
    if (byMedian) {
      if (downwards) sortUps(proper, rank, this.next);
      else sortDowns(proper, rank, this.next);
    }
    const start = downwards ? proper.upStart : proper.downStart;
    const list = downwards ? proper.up : proper.down;
    const end = downwards ? proper.segmentFrom : proper.segmentTo;
    const level = downwards ? proper.fromLevel : proper.toLevel;
    const place = (k: number): number => position[end[list[k]!]!]! * levels + level[list[k]!]!;

    let count = 0;
    for (let i = from; i < to; i++) {
      const v = layer[swapEqual ? to - 1 - (i - from) : i]!;
      const first = start[v]!;
      const degree = start[v + 1]! - first;
      if (degree === 0) continue;
      if (byMedian && degree > 2) {
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
    sortByKey(movable, 0, count, key);
    let taken = 0;
    let isChanged = false;
    for (let i = from; i < to; i++) {
      const v = layer[i]!;
      if (start[v] === start[v + 1]) continue;
      const w = movable[taken++]!;
      if (w === v) continue;
      layer[i] = w;
      isChanged = true;
    }
    if (!isChanged) return;
    numberPositions(proper, rank);
    this.crossings.markChanged(rank);
  }
}
