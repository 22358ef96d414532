/** The result of the layout of one connected component. */

import type { PointList } from "../points.ts";

/** y starts at 0; x is 0 on the main path. */
export interface ComponentLayout {
  /** Anchor x and centre y of each box. */
  x: Float64Array;
  y: Float64Array;
  minX: number;
  maxX: number;
  height: number;
  onMainPath: Uint8Array;
  rankCount: number;
  /** Path of each edge: points edgeStart[e] .. edgeStart[e + 1] - 1. */
  edgeStart: Int32Array;
  edgeKind: Uint8Array;
  points: PointList;
}
