/** Transposition: swaps two neighbours of a rank if that removes crossings. */

import type { Proper } from "../proper.ts";
import type { CrossingCounter } from "./crossings.ts";

/** The most rounds over all ranks. */
const MOST_ROUNDS = 12;
/** Two vertices with more pairs of segments than this are not exchanged. */
const MOST_PAIRS = 10_000;

export class Transposition {
  /** How many pairs of vertices were compared so far, as a measure of the time taken. */
  work = 0;

  constructor(
    private readonly proper: Proper,
    private readonly crossings: CrossingCounter,
  ) {}

  /**
   * Go over the ranks that have crossings until no more are removed.
   *
   * @param swapEqual also swap, once, if crossings stay equal, to leave a local minimum
   */
  run(swapEqual: boolean): void {
    const { proper, crossings } = this;
    for (let round = 0; round < MOST_ROUNDS; round++) {
      let removed = 0;
      for (let i = 0; i < proper.rankCount; i++) {
        const rank = round & 1 ? proper.rankCount - 1 - i : i;
        if (crossings.below(rank) === 0 && crossings.below(rank - 1) === 0) continue;
        if (swapEqual && round === 0) removed += this.pass(rank, 0);
        let more: number;
        do {
          more = this.pass(rank, 1);
          removed += more;
        } while (more > 0);
      }
      if (removed === 0) break;
    }
  }

  /** Swap neighbours, from left to right, if that removes at least `least` crossings. */
  private pass(rank: number, least: number): number {
    const { layer, layerStart, position } = this.proper;
    const end = layerStart[rank + 1]!;
    let removed = 0;
    let isChanged = false;
    for (let i = layerStart[rank]!; i + 1 < end; i++) {
      const v = layer[i]!;
      const w = layer[i + 1]!;
      const gain = this.gain(v, w);
      if (gain < least) continue;
      layer[i] = w;
      layer[i + 1] = v;
      position[w] = i;
      position[v] = i + 1;
      removed += gain;
      isChanged = true;
    }
    this.work += end - layerStart[rank]!;
    if (isChanged) this.crossings.markChanged(rank);
    return removed;
  }

  /** How many crossings are removed if `v`, now left of `w`, moves to the right of `w`. */
  private gain(v: number, w: number): number {
    const { upStart, up, segmentFrom, fromLevel } = this.proper;
    const { downStart, down, segmentTo, toLevel } = this.proper;
    return (
      this.gainOfSide(v, w, upStart, up, segmentFrom, fromLevel) +
      this.gainOfSide(v, w, downStart, down, segmentTo, toLevel)
    );
  }

  private gainOfSide(
    v: number,
    w: number,
    start: Int32Array,
    list: Int32Array,
    end: Int32Array,
    level: Uint8Array,
  ): number {
    const { position, levels } = this.proper;
    const place = (k: number): number => position[end[list[k]!]!]! * levels + level[list[k]!]!;
    const [firstV, endV, firstW, endW] = [start[v]!, start[v + 1]!, start[w]!, start[w + 1]!];
    if ((endV - firstV) * (endW - firstW) > MOST_PAIRS) return 0;
    let gain = 0;
    for (let k = firstV; k < endV; k++) {
      const at = place(k);
      for (let m = firstW; m < endW; m++) gain += Math.sign(at - place(m));
    }
    return gain;
  }
}
