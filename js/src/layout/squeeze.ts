/** Keeps pictures narrow: upright chains can push each other outwards without end; this draws them back in. */

import { distance, type Extents } from "./extents.ts";
import type { Proper } from "./proper.ts";
import type { Trunk } from "./trunk.ts";

/** A side may be this much wider than its fullest rank before straightness is given up, ... */
const TOLERANCE = 1.35;
/** ... and is then made this much wider. */
const SLACK = 1.1;

function bound(has: number, need: number): number {
  return has > need * TOLERANCE ? need * SLACK : has;
}

/** Move what lies too far out as far in as it must; the trunk stays at 0. Changes `x`. */
export function squeeze(proper: Proper, trunk: Trunk, extents: Extents, x: Float64Array): void {
  const { layer, layerStart, rankCount } = proper;
  // The least room either side of the trunk needs, and what it takes now.
  let needLeft = 0;
  let needRight = 0;
  let hasLeft = 0;
  let hasRight = 0;
  let needLoose = 0;
  for (let rank = 0; rank < rankCount; rank++) {
    const first = layerStart[rank]!;
    const end = layerStart[rank + 1]!;
    let packed = extents.left[layer[first]!]!;
    for (let i = first; i < end; i++) {
      const v = layer[i]!;
      if (i > first) packed += distance(proper, extents, layer[i - 1]!, v);
      if (!trunk.onTrunk[v]) continue;
      needLeft = Math.max(needLeft, packed);
      packed = 0;
    }
    packed += extents.right[layer[end - 1]!]!;
    if (hasTrunk(rank)) needRight = Math.max(needRight, packed);
    else needLoose = Math.max(needLoose, packed);
    hasLeft = Math.max(hasLeft, extents.left[layer[first]!]! - x[layer[first]!]!);
    hasRight = Math.max(hasRight, extents.right[layer[end - 1]!]! + x[layer[end - 1]!]!);
  }
  const boundLeft = -bound(hasLeft, needLeft);
  let boundRight = bound(hasRight, needRight);
  boundRight = Math.max(boundRight, boundLeft + needLoose);
  if (-boundLeft >= hasLeft && boundRight >= hasRight) return;

  for (let rank = 0; rank < rankCount; rank++) {
    const first = layerStart[rank]!;
    const last = layerStart[rank + 1]! - 1;
    let most = boundRight - extents.right[layer[last]!]!;
    for (let i = last; i >= first; i--) {
      const v = layer[i]!;
      if (x[v]! <= most) break;
      x[v] = most;
      if (i > first) most -= distance(proper, extents, layer[i - 1]!, v);
    }
    let least = boundLeft + extents.left[layer[first]!]!;
    for (let i = first; i <= last; i++) {
      const v = layer[i]!;
      if (x[v]! >= least) break;
      x[v] = least;
      if (i < last) least += distance(proper, extents, v, layer[i + 1]!);
    }
  }

  function hasTrunk(rank: number): boolean {
    for (let i = layerStart[rank]!; i < layerStart[rank + 1]!; i++) {
      if (trunk.onTrunk[layer[i]!]) return true;
    }
    return false;
  }
}
