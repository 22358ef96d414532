/**
 * Finds places for titles that are larger than their strip. Such a title must not cover a box, the
 * edge of a frame, or another title.
 */
import { type Extent, extentOf, isInside, touch } from "../scene/extent.ts";
import type { SceneIndex } from "../scene/scene_index.ts";

export class TitlePlaces {
  readonly #taken: Extent[];

  /** @param taken the extents of other texts */
  constructor(
    readonly found: Pick<SceneIndex, "scene" | "boxesIn" | "framesIn">,
    taken: readonly Extent[],
  ) {
    this.#taken = [...taken];
  }

  /** Reserve a place if it is free. @returns whether the place was free */
  take(area: Extent): boolean {
    const { scene } = this.found;
    // Unless a frame contains the whole area, the frame's edge runs through the area.
    const isAround = (frame: Extent): boolean =>
      isInside(frame, area.left, area.top) && isInside(frame, area.right, area.bottom);
    const isFree =
      !this.#taken.some((other) => touch(area, other)) &&
      this.found.framesIn(area).every((key) => isAround(extentOf(scene.frames[key]!))) &&
      !this.found.boxesIn(area).length;
    if (isFree) {
      this.#taken.push(area);
    }
    return isFree;
  }
}
