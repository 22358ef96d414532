import { expect, test } from "vitest";
import type { Extent } from "../../../src/views/scene/extent.ts";
import { SpatialIndex } from "../../../src/views/scene/spatial_index.ts";

/** Pseudo-random numbers below 1, the same in every run. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

test("it finds what a look at everything finds, wherever one looks", () => {
  const random = sequence(7);
  const rectangle = (reach: number): Extent => {
    const [left, top] = [random() * 9000 - 200, random() * 9000 - 200];
    return { left, top, right: left + random() * reach, bottom: top + random() * reach };
  };
  const extents = Array.from({ length: 500 }, (_, i) => rectangle(i % 50 ? 200 : 8000));
  const index = new SpatialIndex(extents);
  for (let look = 0; look < 200; look++) {
    const area = rectangle(look % 2 ? 1500 : 0);
    const touching = [...extents.keys()].filter((key) => {
      const at = extents[key]!;
      return (
        at.left <= area.right &&
        at.right >= area.left &&
        at.top <= area.bottom &&
        at.bottom >= area.top
      );
    });
    expect(index.within(area)).toEqual(touching);
  }
});
