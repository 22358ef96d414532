/** Finds rectangles in an area. Pictures are tall, so each horizontal band lists its rectangles. */
import { type Extent, touch } from "./extent.ts";

const BAND_PX = 360;
/** Rectangles that touch more bands than this are in a separate list and tested one by one. */
const MOST_BANDS = 48;

export class SpatialIndex {
  readonly #bands: number[][] = [];
  readonly #tall: number[] = [];

  constructor(readonly extents: readonly Extent[]) {
    extents.forEach((extent, key) => {
      const [first, last] = bandsOf(extent);
      if (last - first >= MOST_BANDS) {
        this.#tall.push(key);
        return;
      }
      for (let band = first; band <= last; band++) {
        this.#bands[band] ??= [];
        this.#bands[band]!.push(key);
      }
    });
  }

  /** Keys of all rectangles that touch `area`, ascending. */
  within(area: Extent): number[] {
    const [first, last] = bandsOf(area);
    const found = this.#tall.filter((key) => touch(this.extents[key]!, area));
    for (let band = first; band <= Math.min(last, this.#bands.length - 1); band++) {
      for (const key of this.#bands[band] ?? []) {
        const extent = this.extents[key]!;
        // A rectangle in several bands is found only in the first of them.
        if (Math.max(first, bandsOf(extent)[0]) === band && touch(extent, area)) {
          found.push(key);
        }
      }
    }
    return found.sort((a, b) => a - b);
  }
}

function bandsOf({ top, bottom }: Extent): [first: number, last: number] {
  return [Math.max(0, Math.floor(top / BAND_PX)), Math.max(0, Math.floor(bottom / BAND_PX))];
}
