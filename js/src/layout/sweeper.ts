/** The moves of the ordering: sweeps by the places of neighbours, and sifting. */

import { sortByKey } from "./adjacency.ts";
import { CrossingCounter } from "./crossings.ts";
import { numberPositions, type Proper, sortDowns, sortUps } from "./proper.ts";
import { PathMover } from "./reinsert.ts";
import { Sifter } from "./sift.ts";

const MOST_ROUNDS = 12;

export class Sweeper {
  private readonly counter = new CrossingCounter();
  /** Made when first needed: most graphs have nothing to sift. */
  private sifter: Sifter | null = null;
  private mover: PathMover | null = null;
  private seed = 1;
  private readonly next: Int32Array;
  private readonly spare: Int32Array;
  private readonly movable: Int32Array;
  private readonly key: Float64Array;
  /** Crossings between rank r and r + 1, and 1 where they are to be counted anew. */
  private readonly between: Float64Array;
  private readonly stale: Uint8Array;
  /** 1 for each rank that sifting cannot better as its neighbours are. */
  private readonly settled: Uint8Array;
  private swept = 0;

  constructor(
    private readonly proper: Proper,
    private readonly weight: Float64Array,
  ) {
    this.next = new Int32Array(proper.count);
    this.spare = new Int32Array(proper.count);
    this.movable = new Int32Array(proper.count);
    this.key = new Float64Array(proper.count);
    this.between = new Float64Array(proper.rankCount);
    this.stale = new Uint8Array(proper.rankCount).fill(1);
    this.settled = new Uint8Array(proper.rankCount);
  }

  /** A measure of the time taken so far. */
  get work(): number {
    return this.swept + (this.sifter?.work ?? 0) + (this.mover?.work ?? 0);
  }

  /** The order was changed from outside. */
  restart(): void {
    this.stale.fill(1);
    this.settled.fill(0);
  }

  countAll(): number {
    let sum = 0;
    for (let rank = 0; rank + 1 < this.proper.rankCount; rank++) {
      if (this.stale[rank]) {
        this.between[rank] = this.counter.count(this.proper, rank, this.weight, this.next);
        this.stale[rank] = 0;
      }
      sum += this.between[rank]!;
    }
    return sum;
  }

  sweep(downwards: boolean, median: boolean, swapEqual: boolean): void {
    const last = this.proper.rankCount - 1;
    for (let i = 1; i <= last; i++) {
      this.orderRank(downwards ? i : last - i, downwards, median, swapEqual);
    }
    this.swept += this.proper.segmentCount;
  }

  private touch(rank: number): void {
    this.stale[rank] = 1;
    if (rank > 0) {
      this.stale[rank - 1] = 1;
      this.settled[rank - 1] = 0;
    }
    if (rank + 1 < this.proper.rankCount) this.settled[rank + 1] = 0;
    this.settled[rank] = 0;
  }

  /** Order one rank by the places of its neighbours in the rank before; vertices without any keep their place. */
  private orderRank(rank: number, downwards: boolean, median: boolean, swapEqual: boolean): void {
    const { proper, key, movable } = this;
    const { layer, layerStart, position } = proper;
    const from = layerStart[rank]!;
    const to = layerStart[rank + 1]!;
    if (to - from < 2) return;
    if (median) {
      if (downwards) sortUps(proper, rank, this.next);
      else sortDowns(proper, rank, this.next);
    }
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
    this.touch(rank);
  }

  /** Sift the ranks that have crossings until that removes no more. */
  sift(takeEqual: boolean): void {
    const { proper, between, settled } = this;
    this.sifter ??= new Sifter(proper, this.weight, this.next);
    this.countAll();
    for (let round = 0; round < MOST_ROUNDS; round++) {
      let improved = 0;
      for (let i = 0; i < proper.rankCount; i++) {
        const rank = round & 1 ? proper.rankCount - 1 - i : i;
        if (settled[rank]) continue;
        if (between[rank] === 0 && (rank === 0 || between[rank - 1] === 0)) continue;
        const gain = this.sifter.sift(rank, takeEqual && round === 0);
        if (gain !== 0) this.touch(rank);
        else settled[rank] = 1;
        if (gain > 0) improved += gain;
      }
      if (improved === 0) break;
    }
  }

  /** Part the vertices into paths and move each of these. @returns the crossings removed */
  movePaths(takeEqual: boolean, most: number): number {
    const { proper, between, spare: taken } = this;
    const { count, rankCount, layer, segmentFrom, segmentTo } = proper;
    this.mover ??= new PathMover(proper, this.weight);
    this.countAll();
    taken.fill(0, 0, count);
    let gained = 0;
    const offset = this.random(count);
    for (let i = 0; i < count && this.work < most; i++) {
      const root = layer[(i + offset) % count]!;
      if (taken[root]) continue;
      taken[root] = 1;
      const path = [root];
      for (let v = this.draw(root, proper.downStart, proper.down, segmentTo); v >= 0; ) {
        path.push(v);
        taken[v] = 1;
        v = this.draw(v, proper.downStart, proper.down, segmentTo);
      }
      path.reverse();
      for (let v = this.draw(root, proper.upStart, proper.up, segmentFrom); v >= 0; ) {
        path.push(v);
        taken[v] = 1;
        v = this.draw(v, proper.upStart, proper.up, segmentFrom);
      }
      path.reverse();
      const first = proper.rank[path[0]!]!;
      const end = first + path.length;
      let isCrossed = false;
      for (let r = Math.max(0, first - 1); r < Math.min(end, rankCount - 1); r++) {
        if (between[r]! > 0) isCrossed = true;
      }
      if (!isCrossed) continue;
      const gain = this.mover.move(path, takeEqual);
      if (gain === 0) continue;
      for (let r = first; r < end; r++) this.touch(r);
      if (gain > 0) gained += gain;
    }
    return gained;
  }

  /** One of the free vertices that segments lead to, -1 if there is none. */
  private draw(v: number, start: Int32Array, list: Int32Array, end: Int32Array): number {
    let found = -1;
    let count = 0;
    for (let k = start[v]!; k < start[v + 1]!; k++) {
      const w = end[list[k]!]!;
      if (this.spare[w]) continue;
      count++;
      if (count === 1 || this.random(count) === 0) found = w;
    }
    return found;
  }

  /** A whole number below `limit`, from a series that is always the same. */
  private random(limit: number): number {
    this.seed = (Math.imul(this.seed, 1664525) + 1013904223) | 0;
    return (this.seed >>> 8) % limit;
  }
}
