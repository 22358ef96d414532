/** Where titles lie that are larger than their strip: on no box, on no frame's edge, and on no other title. */
import { type Extent, extentOf, isInside, touch } from "../scene/extent.ts";
import type { Found } from "../scene/scene_index.ts";

export class TitlePlaces {
  readonly #taken: Extent[];

  /** @param taken where other words lie */
  constructor(
    readonly found: Pick<Found, "scene" | "boxesIn" | "framesIn">,
    taken: readonly Extent[],
  ) {
    this.#taken = [...taken];
  }

  /** @returns whether the place was free; it is not any more */
  take(area: Extent): boolean {
    const { scene } = this.found;
    // A frame's edge runs through the area where the frame does not lie around it.
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
