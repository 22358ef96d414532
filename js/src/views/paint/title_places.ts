/** Where titles lie that are larger than their strip: on no box, on no frame's edge, and on no other title. */
import type { Scene, SceneFrame } from "../scene/scene.ts";
import type { Extent } from "../scene/spatial_index.ts";

interface Found {
  readonly scene: Scene;
  boxesIn(area: Extent): number[];
  framesIn(area: Extent): number[];
}

export class TitlePlaces {
  readonly #found: Found;
  readonly #taken: Extent[];

  /** @param taken where other words lie */
  constructor(found: Found, taken: readonly Extent[]) {
    this.#found = found;
    this.#taken = [...taken];
  }

  /** @returns whether the place was free; it is not any more */
  take(area: Extent): boolean {
    const { scene } = this.#found;
    const isFree =
      !this.#taken.some((other) => meet(area, other)) &&
      !this.#found.framesIn(area).some((key) => crosses(area, scene.frames[key]!)) &&
      !this.#found.boxesIn(area).length;
    if (isFree) {
      this.#taken.push(area);
    }
    return isFree;
  }
}

function meet(one: Extent, other: Extent): boolean {
  return (
    one.left < other.right &&
    other.left < one.right &&
    one.top < other.bottom &&
    other.top < one.bottom
  );
}

/** Whether a frame's edge runs through an area. */
function crosses(area: Extent, { x, y, width, height }: SceneFrame): boolean {
  const frame = {
    left: x - width / 2,
    right: x + width / 2,
    top: y - height / 2,
    bottom: y + height / 2,
  };
  const isAround =
    frame.left <= area.left &&
    frame.right >= area.right &&
    frame.top <= area.top &&
    frame.bottom >= area.bottom;
  return meet(area, frame) && !isAround;
}
