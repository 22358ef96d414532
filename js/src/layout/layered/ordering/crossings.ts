/** Counts crossings between neighbouring ranks in O(segments · log width), with an accumulator tree. */

import { type Proper, sortDowns } from "../proper.ts";

/** The crossings of a proper layered graph. Counts only what changed since the last count. */
export class CrossingCounter {
  private tree = new Int32Array(64);
  private readonly next: Int32Array;
  /** The crossings between ranks r and r + 1; and 1 if these must be counted again. */
  private readonly between: Float64Array;
  private readonly isStale: Uint8Array;

  constructor(private readonly proper: Proper) {
    this.next = new Int32Array(proper.count);
    this.between = new Float64Array(proper.rankCount);
    this.isStale = new Uint8Array(proper.rankCount).fill(1);
  }

  /** Note that the order of one rank has changed. */
  markChanged(rank: number): void {
    this.isStale[rank] = 1;
    if (rank > 0) this.isStale[rank - 1] = 1;
  }

  markAllChanged(): void {
    this.isStale.fill(1);
  }

  total(): number {
    let sum = 0;
    for (let rank = 0; rank + 1 < this.proper.rankCount; rank++) sum += this.below(rank);
    return sum;
  }

  /** Crossings of the segments between a rank and the next. May sort the segments below the rank. */
  below(rank: number): number {
    if (rank < 0 || rank + 1 >= this.proper.rankCount) return 0;
    if (this.isStale[rank]) {
      this.between[rank] = this.count(rank);
      this.isStale[rank] = 0;
    }
    return this.between[rank]!;
  }

  private count(rank: number): number {
    const { proper } = this;
    const { layer, layerStart, downStart, down, segmentTo, position, levels, toLevel } = proper;
    const first = layerStart[rank + 1]!;
    const width = layerStart[rank + 2]! - first;
    const above = layerStart[rank + 1]! - layerStart[rank]!;
    if ((width < 2 || above < 2) && levels === 1) return 0;
    sortDowns(proper, rank, this.next);

    let leaves = 1;
    while (leaves < width * levels) leaves *= 2;
    if (this.tree.length < 2 * leaves) this.tree = new Int32Array(2 * leaves);
    const tree = this.tree.fill(0, 0, 2 * leaves);
    let crossings = 0;
    for (let i = layerStart[rank]!; i < layerStart[rank + 1]!; i++) {
      const v = layer[i]!;
      for (let k = downStart[v]!; k < downStart[v + 1]!; k++) {
        const segment = down[k]!;
        let at = (position[segmentTo[segment]!]! - first) * levels + toLevel[segment]! + leaves;
        tree[at]!++;
        while (at > 1) {
          if ((at & 1) === 0) crossings += tree[at + 1]!;
          at >>= 1;
          tree[at]!++;
        }
      }
    }
    return crossings;
  }
}
