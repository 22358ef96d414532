/** Vertical alignment after Brandes and Köpf: joins vertices of neighbouring ranks into vertical blocks. */

import type { MainPath } from "./main_path.ts";
import type { Proper } from "./proper.ts";

/** Vertical segments (main path, insides of chains of dummies), and segments that cross them. */
export interface UprightSegments {
  /** The vertical segment above and below each vertex, -1 for none. */
  above: Int32Array;
  below: Int32Array;
  /** 1 for each segment that crosses a vertical one. */
  isInConflict: Uint8Array;
}

/** Find the vertical segments. The segments in `up` must be sorted from left to right. */
export function findUprightSegments(proper: Proper, mainPath: MainPath): UprightSegments {
  const { boxCount, layer, layerStart, position, segmentFrom, upStart, up } = proper;
  const above = mainPath.segmentAbove.slice();
  const below = mainPath.segmentBelow.slice();
  const isInConflict = new Uint8Array(proper.segmentCount);
  let width = 0;
  for (let r = 0; r < proper.rankCount; r++) {
    width = Math.max(width, layerStart[r + 1]! - layerStart[r]!);
  }
  // For each place of the upper rank: reachLeft is the rightmost lower end of the vertical segments
  // left of the place. reachRight is the leftmost lower end of those from the place on.
  const reachLeft = new Int32Array(width + 1);
  const reachRight = new Int32Array(width + 1);

  for (let rank = 1; rank < proper.rankCount; rank++) {
    const first = layerStart[rank - 1]!;
    const upper = layerStart[rank]! - first;
    const end = layerStart[rank + 1]!;
    let mainPathFrom = -1;
    let mainPathTo = -1;
    for (let i = layerStart[rank]!; i < end; i++) {
      const segment = mainPath.segmentAbove[layer[i]!]!;
      if (segment >= 0) {
        mainPathFrom = position[segmentFrom[segment]!]!;
        mainPathTo = i;
      }
    }
    // Chains are visited from left to right; if two cross, the left one is vertical.
    let lastFrom = -1;
    for (let i = layerStart[rank]!; i < end; i++) {
      const v = layer[i]!;
      const segment = v - boxCount;
      if (segment < 0 || segmentFrom[segment]! < boxCount || above[v]! >= 0) continue;
      const from = position[segmentFrom[segment]!]!;
      const crossesMainPath = mainPathFrom >= 0 && from < mainPathFrom !== i < mainPathTo;
      if (crossesMainPath || from === mainPathFrom || from <= lastFrom) continue;
      lastFrom = from;
      above[v] = segment;
      below[segmentFrom[segment]!] = segment;
    }
    reachLeft.fill(-1, 0, upper + 1);
    reachRight.fill(0x7fffffff, 0, upper + 1);
    for (let i = 0; i < upper; i++) {
      const segment = below[layer[first + i]!]!;
      const to = segment >= 0 ? position[proper.segmentTo[segment]!]! : -1;
      reachLeft[i + 1] = Math.max(reachLeft[i]!, to);
    }
    for (let i = upper - 1; i >= 0; i--) {
      const segment = below[layer[first + i]!]!;
      const to = segment >= 0 ? position[proper.segmentTo[segment]!]! : 0x7fffffff;
      reachRight[i] = Math.min(reachRight[i + 1]!, to);
    }
    for (let i = layerStart[rank]!; i < end; i++) {
      const v = layer[i]!;
      for (let k = upStart[v]!; k < upStart[v + 1]!; k++) {
        const from = position[segmentFrom[up[k]!]!]! - first;
        if (reachLeft[from]! > i || reachRight[from + 1]! < i) isInConflict[up[k]!] = 1;
      }
    }
  }
  return { above, below, isInConflict };
}

/**
 * One of the four alignments.
 *
 * @returns for each vertex its block, named by one of the block's vertices.
 */
export function alignBlocks(
  proper: Proper,
  uprights: UprightSegments,
  downwards: boolean,
  leftFirst: boolean,
): Int32Array {
  const { layer, layerStart, position } = proper;
  const block = new Int32Array(proper.count);
  const taken = new Uint8Array(proper.count);
  for (let v = 0; v < proper.count; v++) block[v] = v;
  const start = downwards ? proper.upStart : proper.downStart;
  const list = downwards ? proper.up : proper.down;
  const ends = downwards ? proper.segmentFrom : proper.segmentTo;
  const uprightOf = downwards ? uprights.above : uprights.below;
  const uprightBack = downwards ? uprights.below : uprights.above;

  for (let step = 1; step < proper.rankCount; step++) {
    const rank = downwards ? step : proper.rankCount - 1 - step;
    const from = layerStart[rank]!;
    const size = layerStart[rank + 1]! - from;
    let bound = leftFirst ? -1 : 0x7fffffff;
    for (let i = 0; i < size; i++) {
      const v = layer[leftFirst ? from + i : from + size - 1 - i]!;
      const first = start[v]!;
      const degree = start[v + 1]! - first;
      if (degree === 0) continue;
      const low = (degree - 1) >> 1;
      const high = degree >> 1;
      const upright = uprightOf[v]!;
      for (let turn = 0; turn < 2; turn++) {
        if (turn === 1 && (upright >= 0 || low === high)) break;
        const segment =
          upright >= 0 ? upright : list[first + (leftFirst === (turn === 0) ? low : high)]!;
        const u = ends[segment]!;
        if (upright < 0 && (uprights.isInConflict[segment] || uprightBack[u]! >= 0)) continue;
        const place = position[u]!;
        if (taken[u] || (leftFirst ? place <= bound : place >= bound)) continue;
        taken[u] = 1;
        block[v] = block[u]!;
        bound = place;
        break;
      }
    }
  }
  return block;
}
