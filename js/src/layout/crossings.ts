/** Counts crossings between neighbouring ranks in O(segments · log width), with an accumulator tree. */

import { type Proper, sortDowns } from "./proper.ts";

export class CrossingCounter {
  private tree = new Float64Array(64);

  /**
   * Crossings of the segments between `rank` and the next, each counted by the product of the two segments'
   * weights. Leaves the segments below `rank` sorted.
   */
  count(proper: Proper, rank: number, weight: Float64Array, next: Int32Array): number {
    const { layer, layerStart, downStart, down, segmentTo, position, levels, toLevel } = proper;
    const first = layerStart[rank + 1]!;
    const width = layerStart[rank + 2]! - first;
    const above = layerStart[rank + 1]! - layerStart[rank]!;
    if ((width < 2 || above < 2) && levels === 1) return 0;
    sortDowns(proper, rank, next);

    let leaves = 1;
    while (leaves < width * levels) leaves *= 2;
    if (this.tree.length < 2 * leaves) this.tree = new Float64Array(2 * leaves);
    const tree = this.tree.fill(0, 0, 2 * leaves);
    let crossings = 0;
    for (let i = layerStart[rank]!; i < layerStart[rank + 1]!; i++) {
      const v = layer[i]!;
      for (let k = downStart[v]!; k < downStart[v + 1]!; k++) {
        const segment = down[k]!;
        const own = weight[segment]!;
        let at = (position[segmentTo[segment]!]! - first) * levels + toLevel[segment]! + leaves;
        let right = 0;
        tree[at]! += own;
        while (at > 1) {
          if ((at & 1) === 0) right += tree[at + 1]!;
          at >>= 1;
          tree[at]! += own;
        }
        crossings += own * right;
      }
    }
    return crossings;
  }
}
