/** Rectangles in the world, given by their sides. */
import type { Rectangle } from "./camera.ts";

export interface Extent {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export function extentOf({ x, y, width, height }: Rectangle): Extent {
  return { left: x - width / 2, top: y - height / 2, right: x + width / 2, bottom: y + height / 2 };
}

/** The extent of a box with its chips. */
export function extentWithChips(box: Rectangle & { readonly chips: readonly Rectangle[] }): Extent {
  const { top, bottom, ...sides } = extentOf(box);
  let { left, right } = sides;
  for (const chip of box.chips) {
    left = Math.min(left, box.x + chip.x - chip.width / 2);
    right = Math.max(right, box.x + chip.x + chip.width / 2);
  }
  return { left, top, right, bottom };
}

/** Whether two extents overlap, or touch at their sides. */
export function touch(one: Extent, other: Extent): boolean {
  return (
    one.left <= other.right &&
    one.right >= other.left &&
    one.top <= other.bottom &&
    one.bottom >= other.top
  );
}

export function isInside({ left, top, right, bottom }: Extent, x: number, y: number): boolean {
  return x >= left && x <= right && y >= top && y <= bottom;
}
