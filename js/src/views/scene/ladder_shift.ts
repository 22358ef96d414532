/** How near the right column of a ladder comes to the left one. */
import type { NestedResult } from "../../layout/index.ts";

/** Height of the bands in which the columns are compared. */
const BAND_PX = 24;

/**
 * The least shift to the right at which nothing of the right column lies nearer than `gutter` to
 * anything of the left one beside it.
 *
 * @param shown 1 for the items that the right column repeats
 * @param isWide 1 for frames across both columns: what is in them counts, not they themselves
 */
export function ladderShift(
  forward: NestedResult,
  shown: Uint8Array,
  isWide: Uint8Array,
  gutter: number,
): number {
  const bandCount = Math.ceil(forward.totalHeight / BAND_PX) + 1;
  const reach = new Float64Array(bandCount);
  const extend = (x: number, top: number, bottom: number): void => {
    const last = Math.min(bandCount - 1, Math.floor(bottom / BAND_PX));
    for (let band = Math.max(0, Math.floor(top / BAND_PX)); band <= last; band++) {
      reach[band] = Math.max(reach[band]!, x);
    }
  };
  for (let item = 0; item < forward.x.length; item++) {
    if (!isWide[item]) {
      const [right, top, bottom] = sides(forward, item, 1);
      extend(right, top, bottom);
    }
  }
  for (let edge = 0; edge + 1 < forward.edgeStart.length; edge++) {
    for (let i = forward.edgeStart[edge]! + 1; i < forward.edgeStart[edge + 1]!; i++) {
      const [y0, y1] = [forward.pathY[i - 1]!, forward.pathY[i]!];
      const x = Math.max(forward.pathX[i - 1]!, forward.pathX[i]!);
      extend(x, Math.min(y0, y1), Math.max(y0, y1));
    }
  }
  let shift = 0;
  for (let item = 0; item < shown.length; item++) {
    if (!shown[item] || isWide[item]) {
      continue;
    }
    const [left, top, bottom] = sides(forward, item, -1);
    const last = Math.min(bandCount - 1, Math.floor(bottom / BAND_PX));
    for (let band = Math.max(0, Math.floor(top / BAND_PX)); band <= last; band++) {
      shift = Math.max(shift, reach[band]! + gutter - left);
    }
  }
  return shift;
}

/** Left (-1) or right (1) side of an item, its top and its bottom. */
function sides(forward: NestedResult, item: number, side: 1 | -1): [number, number, number] {
  const halfHeight = forward.height[item]! / 2;
  const y = forward.y[item]!;
  return [forward.x[item]! + (side * forward.width[item]!) / 2, y - halfHeight, y + halfHeight];
}
