/** Transposition: two neighbours of a rank change places where that removes crossings. */

import { type Proper, sortDowns, sortUps } from "../proper.ts";
import type { CrossingCounter } from "./crossings.ts";

/** Rounds over all ranks at most. */
const MOST_ROUNDS = 12;

export class Transposition {
  /** Pairs of vertices compared so far: the measure of the time taken. */
  work = 0;
  /** For each segment above (below) a vertex, in the order of `proper.up` (`down`): the place of its other end. */
  private readonly upAt: Int32Array;
  private readonly downAt: Int32Array;
  private readonly next: Int32Array;

  constructor(
    private readonly proper: Proper,
    private readonly crossings: CrossingCounter,
  ) {
    this.upAt = new Int32Array(proper.segmentCount);
    this.downAt = new Int32Array(proper.segmentCount);
    this.next = new Int32Array(proper.count);
  }

  /**
   * Go over the ranks that have crossings until no more are removed.
   *
   * @param swapEqual also swap, once, where that costs nothing: it leads out of dead ends
   */
  run(swapEqual: boolean): void {
    const { proper, crossings } = this;
    for (let round = 0; round < MOST_ROUNDS; round++) {
      let removed = 0;
      for (let i = 0; i < proper.rankCount; i++) {
        const rank = round & 1 ? proper.rankCount - 1 - i : i;
        if (crossings.below(rank) === 0 && crossings.below(rank - 1) === 0) continue;
        removed += this.transposeRank(rank, swapEqual && round === 0);
      }
      if (removed === 0) break;
    }
  }

  /** @returns the crossings removed */
  private transposeRank(rank: number, swapEqual: boolean): number {
    const { layer, layerStart } = this.proper;
    if (layerStart[rank + 1]! - layerStart[rank]! < 2) return 0;
    this.notePlaces(rank);
    const before = layer.slice(layerStart[rank]!, layerStart[rank + 1]!);
    let removed = swapEqual ? this.pass(rank, 0) : 0;
    for (;;) {
      const more = this.pass(rank, 1);
      if (more === 0) break;
      removed += more;
    }
    const isChanged = before.some((v, i) => layer[layerStart[rank]! + i] !== v);
    if (isChanged) this.crossings.markChanged(rank);
    return removed;
  }

  /** Swap neighbours, from left to right, where that removes at least `least` crossings. */
  private pass(rank: number, least: number): number {
    const { layer, layerStart, position } = this.proper;
    const from = layerStart[rank]!;
    const to = layerStart[rank + 1]!;
    let removed = 0;
    for (let i = from; i + 1 < to; i++) {
      const v = layer[i]!;
      const w = layer[i + 1]!;
      const gain = this.gain(v, w);
      if (gain < least) continue;
      layer[i] = w;
      layer[i + 1] = v;
      position[w] = i;
      position[v] = i + 1;
      removed += gain;
    }
    this.work += to - from;
    return removed;
  }

  /** Note where the segments of a rank's vertices lead, from left to right. */
  private notePlaces(rank: number): void {
    const { proper, upAt, downAt } = this;
    const { layer, layerStart, position, levels, upStart, up, downStart, down } = proper;
    sortUps(proper, rank, this.next);
    sortDowns(proper, rank, this.next);
    for (let i = layerStart[rank]!; i < layerStart[rank + 1]!; i++) {
      const v = layer[i]!;
      for (let k = upStart[v]!; k < upStart[v + 1]!; k++) {
        const s = up[k]!;
        upAt[k] = position[proper.segmentFrom[s]!]! * levels + proper.fromLevel[s]!;
      }
      for (let k = downStart[v]!; k < downStart[v + 1]!; k++) {
        const s = down[k]!;
        downAt[k] = position[proper.segmentTo[s]!]! * levels + proper.toLevel[s]!;
      }
      if (levels === 1) continue;
      // Segments at fixed ports are in the order of the ports; here they go by their other ends.
      upAt.subarray(upStart[v]!, upStart[v + 1]!).sort();
      downAt.subarray(downStart[v]!, downStart[v + 1]!).sort();
    }
  }

  /** Crossings removed when `v`, now left of `w`, goes to its right. */
  private gain(v: number, w: number): number {
    const { upStart, downStart } = this.proper;
    return (
      gainOfSide(this.upAt, upStart[v]!, upStart[v + 1]!, upStart[w]!, upStart[w + 1]!) +
      gainOfSide(this.downAt, downStart[v]!, downStart[v + 1]!, downStart[w]!, downStart[w + 1]!)
    );
  }
}

/** The same for one side. The places of v's segments are [firstV, endV) of `at`, those of w's [firstW, endW). */
function gainOfSide(
  at: Int32Array,
  firstV: number,
  endV: number,
  firstW: number,
  endW: number,
): number {
  let gain = 0;
  let less = firstW;
  let notGreater = firstW;
  for (let k = firstV; k < endV; k++) {
    while (less < endW && at[less]! < at[k]!) less++;
    while (notGreater < endW && at[notGreater]! <= at[k]!) notGreater++;
    gain += less - firstW - (endW - notGreater);
  }
  return gain;
}
