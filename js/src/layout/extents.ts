/** How much room vertices take beside each other. */

import type { Proper } from "./proper.ts";

export interface Extents {
  /** Extent of each vertex to either side of its anchor, in px. */
  left: Float64Array;
  right: Float64Array;
  /** Gap between two boxes, and next to a dummy, in px. */
  boxGap: number;
  dummyGap: number;
}

/** Least distance of the anchors of `v` and its right neighbour `w`. */
export function distance(proper: Proper, extents: Extents, v: number, w: number): number {
  const dummy = v >= proper.boxCount || w >= proper.boxCount;
  return extents.right[v]! + extents.left[w]! + (dummy ? extents.dummyGap : extents.boxGap);
}
