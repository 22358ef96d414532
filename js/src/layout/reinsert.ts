/** Takes a path out of the ranks it runs through and puts it back where it makes the fewest crossings. */

import type { Proper } from "./proper.ts";

/**
 * A path has one vertex in each of some neighbouring ranks. The best places of all its vertices together are found
 * by dynamic programming from rank to rank: a long edge, or a run of ops, moves across others as a whole, where
 * vertex by vertex each step would make things worse.
 */
export class PathMover {
  /** Pairs of places weighed against each other so far: the measure of the time taken. */
  work = 0;
  private readonly slot: Int32Array;
  /** Cost of a place in the rank before and in this one, in the order of places. */
  private cost = new Float64Array(64);
  private nextCost = new Float64Array(64);
  private row = new Float64Array(64);
  private step = new Float64Array(64);
  private rightOwn = new Float64Array(64);
  private rightOther = new Float64Array(64);
  /** The place in the rank before from which each place is reached best. */
  private came = new Int32Array(1024);

  constructor(
    private readonly proper: Proper,
    private readonly weight: Float64Array,
  ) {
    this.slot = new Int32Array(proper.rankCount);
  }

  /**
   * @param path a vertex in each rank from that of path[0] on
   * @param takeEqual move to other places that are as good, too
   * @returns the crossings removed; -1 if the path moved without removing any
   */
  move(path: readonly number[], takeEqual: boolean): number {
    const { proper, slot } = this;
    const { layerStart, position, rank, rankCount } = proper;
    const first = rank[path[0]!]!;
    const last = first + path.length - 1;
    const widthOf = (r: number): number => layerStart[r + 1]! - layerStart[r]!;
    let most = 0;
    let table = 0;
    for (let r = Math.max(0, first - 1); r <= Math.min(rankCount - 1, last + 1); r++) {
      most = Math.max(most, widthOf(r));
      table += widthOf(r);
    }
    this.reserve(most + 1, table);
    let now = 0;
    let { cost, nextCost } = this;
    const { came } = this;

    cost.fill(0, 0, widthOf(first));
    if (first > 0) now += this.addLoose(first - 1, -1, path[0]!, cost, true);
    let at = 0;
    for (let i = 0; i + 1 < path.length; i++) {
      const [v, w] = [path[i]!, path[i + 1]!];
      now += this.addLoose(first + i, v, w, cost, false);
      nextCost.fill(Number.POSITIVE_INFINITY, 0, widthOf(first + i + 1));
      now += this.cross(first + i, v, w, cost, nextCost, at, takeEqual);
      at += widthOf(first + i + 1);
      [cost, nextCost] = [nextCost, cost];
      now += this.addLoose(first + i, v, w, cost, true);
    }
    if (last + 1 < rankCount) now += this.addLoose(last, path.at(-1)!, -1, cost, false);

    const own = position[path.at(-1)!]! - layerStart[last]!;
    let best = own;
    for (let q = 0; q < widthOf(last); q++) {
      if (cost[q]! < cost[best]! - 1e-9 || (takeEqual && cost[q]! <= cost[best]! + 1e-9)) best = q;
    }
    const gain = now - cost[best]!;
    if (gain < 1e-6 && !takeEqual) return 0;
    slot[last] = best;
    for (let r = last; r > first; r--) {
      at -= widthOf(r);
      slot[r - 1] = came[at + slot[r]!]!;
    }
    let isMoved = false;
    for (let i = 0; i < path.length; i++) {
      if (this.put(path[i]!, layerStart[first + i]! + slot[first + i]!)) isMoved = true;
    }
    return gain >= 1e-6 ? gain : isMoved ? -1 : 0;
  }

  private reserve(width: number, table: number): void {
    if (this.cost.length < width) {
      for (const name of ["cost", "nextCost", "row", "step", "rightOwn", "rightOther"] as const) {
        this[name] = new Float64Array(2 * width);
      }
    }
    if (this.came.length < table) this.came = new Int32Array(2 * table);
  }

  private put(v: number, to: number): boolean {
    const { layer, position } = this.proper;
    const from = position[v]!;
    if (from === to) return false;
    const by = to > from ? 1 : -1;
    for (let i = from; i !== to; i += by) {
      layer[i] = layer[i + by]!;
      position[layer[i]!] = i;
    }
    layer[to] = v;
    position[v] = to;
    return true;
  }

  /**
   * Between `rank` and the next: crossings of the segments that hang on `v` above (or on `w` below, `ofLower`) beside
   * the path, by the place of that end. Adds them to `cost`. @returns those there are now.
   */
  private addLoose(
    rank: number,
    v: number,
    w: number,
    cost: Float64Array,
    ofLower: boolean,
  ): number {
    const { proper, weight, step } = this;
    const { layer, layerStart, position, levels, segmentFrom, segmentTo } = proper;
    const end = ofLower ? w : v;
    const partner = ofLower ? v : w;
    const start = ofLower ? proper.upStart : proper.downStart;
    const list = ofLower ? proper.up : proper.down;
    const far = ofLower ? segmentFrom : segmentTo;
    const farLevel = ofLower ? proper.fromLevel : proper.toLevel;
    const ownRank = ofLower ? rank + 1 : rank;
    const from = layerStart[ownRank]!;
    const width = layerStart[ownRank + 1]! - from;
    let isAny = false;
    for (let k = start[end]!; k < start[end + 1]!; k++)
      if (far[list[k]!]! !== partner) isAny = true;
    if (!isAny) return 0;
    const here = position[end]! - from;
    step.fill(0, 0, width + 1);
    for (let k = start[end]!; k < start[end + 1]!; k++) {
      const own = list[k]!;
      if (far[own]! === partner) continue;
      const place = position[far[own]!]! * levels + farLevel[own]!;
      let slot = 0;
      for (let i = 0; i < width; i++) {
        if (i === here) continue;
        const other = layer[from + i]!;
        let change = 0;
        for (let j = start[other]!; j < start[other + 1]!; j++) {
          const s = list[j]!;
          if (far[s]! === partner) continue;
          const at = position[far[s]!]! * levels + farLevel[s]!;
          if (at < place) {
            step[0]! += weight[own]! * weight[s]!;
            change -= weight[s]!;
          } else if (at > place) change += weight[s]!;
        }
        step[++slot]! += weight[own]! * change;
      }
      this.work += width;
    }
    let sum = 0;
    let now = 0;
    for (let p = 0; p < width; p++) {
      sum += step[p]!;
      cost[p]! += sum;
      if (p === here) now = sum;
    }
    return now;
  }

  /** The step of the path from `v` to `w`: fills `nextCost` and `came`. @returns the crossings there are now. */
  private cross(
    rank: number,
    v: number,
    w: number,
    cost: Float64Array,
    nextCost: Float64Array,
    at: number,
    takeEqual: boolean,
  ): number {
    const { proper, weight, row, step, rightOwn, rightOther, came } = this;
    const { layer, layerStart, position, levels, segmentFrom, segmentTo } = proper;
    const { upStart, up, downStart, down, fromLevel, toLevel } = proper;
    const above = layerStart[rank]!;
    const below = layerStart[rank + 1]!;
    const width = below - above;
    const nextWidth = layerStart[rank + 2]! - below;
    const hereV = position[v]! - above;
    const hereW = position[w]! - below;
    const placeW = (u: number): number => {
      const i = position[u]! - below;
      return i > hereW ? i - 1 : i;
    };

    // The path's own segments (several where they meet fixed ports), and the other segments of its two ends.
    const owns: number[] = [];
    let ownWeight = 0;
    rightOwn.fill(0, 0, nextWidth + 1); // by place of w: segments of v that end right of it
    for (let k = downStart[v]!; k < downStart[v + 1]!; k++) {
      const s = down[k]!;
      if (segmentTo[s] === w) {
        owns.push(s);
        ownWeight += weight[s]!;
      } else rightOwn[placeW(segmentTo[s]!)]! += weight[s]!;
    }
    let ownTotal = 0;
    for (let q = nextWidth - 1; q >= 0; q--) {
      ownTotal += rightOwn[q]!;
      rightOwn[q] = ownTotal;
    }
    rightOther.fill(0, 0, width + 1); // by place of v: segments to w that begin right of it
    for (let k = upStart[w]!; k < upStart[w + 1]!; k++) {
      const s = up[k]!;
      const u = segmentFrom[s]!;
      if (u === v) continue;
      const i = position[u]! - above;
      rightOther[i > hereV ? i - 1 : i]! += weight[s]!;
    }
    let otherTotal = 0;
    for (let p = width - 1; p >= 0; p--) {
      otherTotal += rightOther[p]!;
      rightOther[p] = otherTotal;
    }

    // row[q]: crossings of the path's segment from place p to place q; starts with p = 0.
    row.fill(0, 0, nextWidth + 1);
    for (let i = 0; i < width; i++) {
      if (i === hereV) continue;
      const u = layer[above + i]!;
      for (let k = downStart[u]!; k < downStart[u + 1]!; k++) {
        const s = down[k]!;
        if (segmentTo[s] !== w) row[placeW(segmentTo[s]!) + 1]! += ownWeight * weight[s]!;
      }
    }
    for (let q = 1; q < nextWidth; q++) row[q]! += row[q - 1]!;
    if (levels > 1) {
      // Segments of one box leave it at fixed ports, and may cross each other.
      for (let k = downStart[v]!; k < downStart[v + 1]!; k++) {
        const s = down[k]!;
        if (segmentTo[s] === w) continue;
        const end = placeW(segmentTo[s]!);
        for (const own of owns) {
          if (fromLevel[s] === fromLevel[own]) continue;
          const isRight = fromLevel[s]! > fromLevel[own]!;
          for (let q = 0; q < nextWidth; q++) {
            if (isRight === end < q) row[q]! += weight[own]! * weight[s]!;
          }
        }
      }
    }

    let now = 0;
    let place = 0;
    for (let p = 0; p < width; p++) {
      if (p > 0) {
        if (place === hereV) place++;
        const u = layer[above + place++]!;
        step.fill(0, 0, nextWidth + 1);
        for (let k = downStart[u]!; k < downStart[u + 1]!; k++) {
          const s = down[k]!;
          if (segmentTo[s] === w) continue;
          const change = ownWeight * weight[s]!;
          step[0]! += change;
          step[placeW(segmentTo[s]!) + 1]! -= 2 * change;
        }
        let sum = 0;
        for (let q = 0; q < nextWidth; q++) {
          sum += step[q]!;
          row[q]! += sum;
        }
      }
      let fixed = 0;
      if (levels > 1) {
        for (let k = upStart[w]!; k < upStart[w + 1]!; k++) {
          const s = up[k]!;
          const u = segmentFrom[s]!;
          if (u === v) continue;
          const i = position[u]! - above;
          const isLeft = (i > hereV ? i - 1 : i) < p;
          for (const own of owns) {
            if (toLevel[s] === toLevel[own]) continue;
            if (isLeft === toLevel[s]! > toLevel[own]!) fixed += weight[own]! * weight[s]!;
          }
        }
      }
      const right = rightOther[p]!;
      const left = otherTotal - right;
      const before = cost[p]! + fixed;
      for (let q = 0; q < nextWidth; q++) {
        const crossed = row[q]! + right * rightOwn[q]! + left * (ownTotal - rightOwn[q]!);
        if (p === hereV && q === hereW) now = crossed + fixed;
        const sum = before + crossed;
        const known = nextCost[q]!;
        const isBetter = sum < known - 1e-9 || (sum <= known + 1e-9 && (takeEqual || p === hereV));
        if (!isBetter) continue;
        nextCost[q] = sum;
        came[at + q] = p;
      }
    }
    this.work += width * nextWidth;
    return now;
  }
}
