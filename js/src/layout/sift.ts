/** Sifting: takes the vertices of a rank one by one and puts each where it makes the fewest crossings. */

import { type Proper, sortDowns, sortUps } from "./proper.ts";

/** In wider ranks vertices change places with their neighbours only. */
const WIDEST = 100;

export class Sifter {
  /** Pairs of vertices weighed against each other so far: the measure of the time taken. */
  work = 0;
  /** Per segment above (below) a vertex, in the order of `proper.up` (`down`): its other end's place, and its weight. */
  private readonly upAt: Int32Array;
  private readonly downAt: Int32Array;
  private readonly upWeight: Float64Array;
  private readonly downWeight: Float64Array;
  /** Sums of the weights above and below each vertex. */
  private readonly upTotal: Float64Array;
  private readonly downTotal: Float64Array;
  private readonly waiting: Int32Array;

  constructor(
    private readonly proper: Proper,
    private readonly weight: Float64Array,
    private readonly next: Int32Array,
  ) {
    const { segmentCount, segmentFrom, segmentTo, count } = proper;
    this.upAt = new Int32Array(segmentCount);
    this.downAt = new Int32Array(segmentCount);
    this.upWeight = new Float64Array(segmentCount);
    this.downWeight = new Float64Array(segmentCount);
    this.upTotal = new Float64Array(count);
    this.downTotal = new Float64Array(count);
    this.waiting = new Int32Array(count);
    for (let s = 0; s < segmentCount; s++) {
      this.upTotal[segmentTo[s]!]! += weight[s]!;
      this.downTotal[segmentFrom[s]!]! += weight[s]!;
    }
  }

  /**
   * @param takeEqual also make moves that cost nothing: they lead out of dead ends
   * @returns the crossings removed; -1 if vertices moved without removing any
   */
  sift(rank: number, takeEqual: boolean): number {
    const { layer, layerStart } = this.proper;
    const from = layerStart[rank]!;
    const to = layerStart[rank + 1]!;
    if (to - from < 2) return 0;
    this.lookAround(rank);
    if (to - from > WIDEST) return this.swapNeighbours(from, to, takeEqual);
    const { waiting } = this;
    for (let i = from; i < to; i++) waiting[i - from] = layer[i]!;
    let gained = 0;
    let isMoved = false;
    for (let i = 0; i < to - from; i++) {
      const gain = this.siftOne(waiting[i]!, from, to, takeEqual);
      if (gain > 0) gained += gain;
      if (gain !== 0) isMoved = true;
    }
    return gained > 0 ? gained : isMoved ? -1 : 0;
  }

  private siftOne(v: number, from: number, to: number, takeEqual: boolean): number {
    const { layer, position } = this.proper;
    if (this.upTotal[v] === 0 && this.downTotal[v] === 0) return 0;
    const place = position[v]!;
    let best = 0;
    let bestPlace = place;
    let gain = 0;
    for (let i = place - 1; i >= from; i--) {
      gain += this.gain(layer[i]!, v);
      if (gain > best || (takeEqual && gain === best)) {
        best = gain;
        bestPlace = i;
      }
    }
    gain = 0;
    for (let i = place + 1; i < to; i++) {
      gain += this.gain(v, layer[i]!);
      if (gain > best || (takeEqual && gain === best && bestPlace >= place)) {
        best = gain;
        bestPlace = i;
      }
    }
    this.work += to - from;
    if (bestPlace === place) return 0;
    const step = bestPlace > place ? 1 : -1;
    for (let i = place; i !== bestPlace; i += step) {
      layer[i] = layer[i + step]!;
      position[layer[i]!] = i;
    }
    layer[bestPlace] = v;
    position[v] = bestPlace;
    return best > 0 ? best : -1;
  }

  private swapNeighbours(from: number, to: number, takeEqual: boolean): number {
    const { layer, position } = this.proper;
    let gained = 0;
    let isMoved = false;
    const pass = (least: number): boolean => {
      let isBetter = false;
      for (let i = from; i + 1 < to; i++) {
        const v = layer[i]!;
        const w = layer[i + 1]!;
        const gain = this.gain(v, w);
        if (gain < least) continue;
        layer[i] = w;
        layer[i + 1] = v;
        position[w] = i;
        position[v] = i + 1;
        gained += gain;
        isMoved = true;
        if (gain > 0) isBetter = true;
      }
      this.work += to - from;
      return isBetter;
    };
    if (takeEqual) pass(0);
    while (pass(1e-9));
    return gained > 0 ? gained : isMoved ? -1 : 0;
  }

  /** Note where the segments of a rank's vertices lead, from left to right. */
  private lookAround(rank: number): void {
    const { proper, next, upAt, downAt, upWeight, downWeight, weight } = this;
    const { layer, layerStart, position, levels, upStart, up, downStart, down } = proper;
    sortUps(proper, rank, next);
    sortDowns(proper, rank, next);
    for (let i = layerStart[rank]!; i < layerStart[rank + 1]!; i++) {
      const v = layer[i]!;
      for (let k = upStart[v]!; k < upStart[v + 1]!; k++) {
        const s = up[k]!;
        upAt[k] = position[proper.segmentFrom[s]!]! * levels + proper.fromLevel[s]!;
        upWeight[k] = weight[s]!;
      }
      for (let k = downStart[v]!; k < downStart[v + 1]!; k++) {
        const s = down[k]!;
        downAt[k] = position[proper.segmentTo[s]!]! * levels + proper.toLevel[s]!;
        downWeight[k] = weight[s]!;
      }
      if (levels === 1) continue;
      // Segments at fixed ports are in the order of the ports; here they go by their other ends.
      sortPlaces(upAt, upWeight, upStart[v]!, upStart[v + 1]!);
      sortPlaces(downAt, downWeight, downStart[v]!, downStart[v + 1]!);
    }
  }

  /** Crossings removed when `v`, now left of `w`, goes to its right. */
  private gain(v: number, w: number): number {
    const { upStart, downStart } = this.proper;
    let gain = 0;
    let total = this.upTotal[w]!;
    if (total > 0) {
      gain += sideGain(
        upStart[v]!,
        upStart[v + 1]!,
        upStart[w]!,
        upStart[w + 1]!,
        this.upAt,
        this.upWeight,
        total,
      );
    }
    total = this.downTotal[w]!;
    if (total > 0) {
      gain += sideGain(
        downStart[v]!,
        downStart[v + 1]!,
        downStart[w]!,
        downStart[w + 1]!,
        this.downAt,
        this.downWeight,
        total,
      );
    }
    return gain;
  }
}

function sideGain(
  firstV: number,
  endV: number,
  firstW: number,
  endW: number,
  at: Int32Array,
  weight: Float64Array,
  total: number,
): number {
  let gain = 0;
  let j = firstW;
  let same = firstW;
  let less = 0;
  let upTo = 0;
  for (let k = firstV; k < endV; k++) {
    const place = at[k]!;
    while (j < endW && at[j]! < place) less += weight[j++]!;
    while (same < endW && at[same]! <= place) upTo += weight[same++]!;
    gain += weight[k]! * (less - (total - upTo));
  }
  return gain;
}

function sortPlaces(at: Int32Array, weight: Float64Array, from: number, to: number): void {
  for (let k = from + 1; k < to; k++) {
    const place = at[k]!;
    const own = weight[k]!;
    let j = k - 1;
    while (j >= from && at[j]! > place) {
      at[j + 1] = at[j]!;
      weight[j + 1] = weight[j]!;
      j--;
    }
    at[j + 1] = place;
    weight[j + 1] = own;
  }
}
