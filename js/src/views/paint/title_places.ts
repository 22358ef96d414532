/** Finds places for titles that are larger than their strip: on no box, frame edge or title. */
import { type Extent, extentOf, isInside, touch } from "../scene/extent.ts";
import type { Found } from "../scene/scene_index.ts";

export class TitlePlaces {
  readonly #taken: Extent[];

  /** @param taken the extents of other words */
  constructor(
    readonly found: Pick<Found, "scene" | "boxesIn" | "framesIn">,
    taken: readonly Extent[],
  ) {
    this.#taken = [...taken];
  }

  /** @returns whether the place was free; it is taken now */
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
