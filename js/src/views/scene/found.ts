/** How to find what of a scene lies in a part of the world. */
import type { Scene } from "./scene.ts";
import type { Extent } from "./spatial_index.ts";

/** A scene and what of it lies where, by position in its lists. */
export interface Found {
  readonly scene: Scene;
  boxesIn(area: Extent): number[];
  edgesIn(area: Extent): number[];
  framesIn(area: Extent): number[];
}
