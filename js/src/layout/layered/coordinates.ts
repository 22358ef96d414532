/** Gives every vertex its x: blocks pack towards the main path, and four alignments are combined. */

import { alignBlocks, findUprightSegments } from "./align.ts";
import type { MainPath } from "./main_path.ts";
import { type Proper, sortDowns, sortUps } from "./proper.ts";

export interface Extents {
  /** Distance from each vertex's anchor to its left and right side, in px. */
  left: Float64Array;
  right: Float64Array;
  /** Gap between two boxes, and next to a dummy, in px. */
  boxGap: number;
  dummyGap: number;
}

/** Least distance between the anchors of `v` and of `w`, its right neighbour. */
export function distance(proper: Proper, extents: Extents, v: number, w: number): number {
  const dummy = v >= proper.boxCount || w >= proper.boxCount;
  return extents.right[v]! + extents.left[w]! + (dummy ? extents.dummyGap : extents.boxGap);
}

/** @returns the x of each vertex's anchor; the main path lies at 0. */
export function assignCoordinates(
  proper: Proper,
  mainPath: MainPath,
  extents: Extents,
): Float64Array {
  const next = new Int32Array(proper.count);
  for (let rank = 0; rank < proper.rankCount; rank++) {
    sortUps(proper, rank, next);
    sortDowns(proper, rank, next);
  }
  const uprights = findUprightSegments(proper, mainPath);
  const all: Float64Array[] = [];
  for (const downwards of [true, false]) {
    for (const leftFirst of [true, false]) {
      const block = alignBlocks(proper, uprights, downwards, leftFirst);
      all.push(packBlocks(proper, mainPath, extents, block));
    }
  }
  const x = middleOf(all as [Float64Array, Float64Array, Float64Array, Float64Array]);
  limitWidth(proper, mainPath, extents, x);
  return x;
}

/** The mean of the two middle values. It keeps order and distances, since all four alignments do. */
function middleOf([a, b, c, d]: [Float64Array, Float64Array, Float64Array, Float64Array]) {
  const x = new Float64Array(a.length);
  for (let v = 0; v < x.length; v++) {
    const low = Math.max(Math.min(a[v]!, b[v]!), Math.min(c[v]!, d[v]!));
    const high = Math.min(Math.max(a[v]!, b[v]!), Math.max(c[v]!, d[v]!));
    x[v] = (low + high) / 2;
  }
  return x;
}

/**
 * Pack the blocks towards the main path: blocks right of it move left, and blocks left of it move
 * right.
 */
function packBlocks(
  proper: Proper,
  mainPath: MainPath,
  extents: Extents,
  block: Int32Array,
): Float64Array {
  const { count, layer, rank, layerStart, position } = proper;
  const members = new Int32Array(count); // next vertex of the same block, -1 at the end
  const first = new Int32Array(count).fill(-1);
  const waiting = new Int32Array(count);
  for (let v = count - 1; v >= 0; v--) {
    const b = block[v]!;
    members[v] = first[b]!;
    first[b] = v;
    if (position[v]! > layerStart[rank[v]!]!) waiting[b]!++;
  }

  const order = new Int32Array(count);
  let filled = 0;
  for (let v = 0; v < count; v++) if (block[v] === v && waiting[v] === 0) order[filled++] = v;
  const at = new Float64Array(count);
  for (let i = 0; i < filled; i++) {
    const b = order[i]!;
    for (let v = first[b]!; v >= 0; v = members[v]!) {
      const place = position[v]! + 1;
      if (place >= layerStart[rank[v]! + 1]!) continue;
      const w = layer[place]!;
      const other = block[w]!;
      const least = at[b]! + distance(proper, extents, v, w);
      if (least > at[other]!) at[other] = least;
      if (--waiting[other]! === 0) order[filled++] = other;
    }
  }

  let mainPathBlock = -1;
  for (let v = 0; v < count && mainPathBlock < 0; v++)
    if (mainPath.isOn[v]) mainPathBlock = block[v]!;
  const leftOfMainPath = new Uint8Array(count);
  leftOfMainPath[mainPathBlock] = 1;
  for (let i = filled - 1; i >= 0; i--) {
    const b = order[i]!;
    if (b === mainPathBlock) continue;
    let most = Number.POSITIVE_INFINITY;
    for (let v = first[b]!; v >= 0; v = members[v]!) {
      const place = position[v]! + 1;
      if (place >= layerStart[rank[v]! + 1]!) continue;
      const w = layer[place]!;
      const other = block[w]!;
      if (leftOfMainPath[other]) leftOfMainPath[b] = 1;
      most = Math.min(most, at[other]! - distance(proper, extents, v, w));
    }
    if (leftOfMainPath[b]) at[b] = most;
  }

  const x = new Float64Array(count);
  const middle = at[mainPathBlock]!;
  for (let v = 0; v < count; v++) x[v] = at[block[v]!]! - middle;
  return x;
}

/**
 * A side is made narrower if it is wider than its fullest rank times this factor. Its edges are
 * then less straight.
 */
const TOLERANCE = 1.35;
/** A side that is made narrower becomes as wide as its fullest rank times this factor. */
const SLACK = 1.1;

function bound(has: number, need: number): number {
  return has > need * TOLERANCE ? need * SLACK : has;
}

/** Move outer vertices inwards to limit the width; the main path stays at 0. Changes `x`. */
function limitWidth(proper: Proper, mainPath: MainPath, extents: Extents, x: Float64Array): void {
  const { layer, layerStart, rankCount } = proper;
  // The width that ranks need left and right of the main path, the width of ranks without a main
  // path, and the width used now.
  let [needLeft, needRight, needLoose, hasLeft, hasRight] = [0, 0, 0, 0, 0];
  for (let rank = 0; rank < rankCount; rank++) {
    const [first, last] = [layerStart[rank]!, layerStart[rank + 1]! - 1];
    let packed = extents.left[layer[first]!]!;
    let toMainPath = -1;
    for (let i = first; i <= last; i++) {
      if (i > first) packed += distance(proper, extents, layer[i - 1]!, layer[i]!);
      if (mainPath.isOn[layer[i]!]) toMainPath = packed;
    }
    packed += extents.right[layer[last]!]!;
    if (toMainPath < 0) needLoose = Math.max(needLoose, packed);
    else needLeft = Math.max(needLeft, toMainPath);
    if (toMainPath >= 0) needRight = Math.max(needRight, packed - toMainPath);
    hasLeft = Math.max(hasLeft, extents.left[layer[first]!]! - x[layer[first]!]!);
    hasRight = Math.max(hasRight, extents.right[layer[last]!]! + x[layer[last]!]!);
  }
  const left = bound(hasLeft, needLeft);
  const right = Math.max(bound(hasRight, needRight), needLoose - left);
  for (let rank = 0; rank < rankCount; rank++) {
    const [first, last] = [layerStart[rank]!, layerStart[rank + 1]! - 1];
    let most = right - extents.right[layer[last]!]!;
    for (let i = last; i >= first && x[layer[i]!]! > most; i--) {
      x[layer[i]!] = most;
      if (i > first) most -= distance(proper, extents, layer[i - 1]!, layer[i]!);
    }
    let least = extents.left[layer[first]!]! - left;
    for (let i = first; i <= last && x[layer[i]!]! < least; i++) {
      x[layer[i]!] = least;
      if (i < last) least += distance(proper, extents, layer[i]!, layer[i + 1]!);
    }
  }
}
