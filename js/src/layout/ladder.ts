/** The right column of the paired view: gradients between the boxes of a forward layout, mostly flowing up. */

import { EDGE_CURVE, EDGE_LANE, type EdgePaths, type NestedResult } from "./contract.ts";
import { PointList } from "./points.ts";

export interface Ends {
  readonly source: ArrayLike<number>;
  readonly target: ArrayLike<number>;
}

/** Distance between edges that have no forward counterpart, in px. */
const LANE_GAP_PX = 12;
/** Two boxes nearer than this are in neighbouring ranks: no box is between them. */
const NEAR_PX = 60;

/**
 * Paths of gradients, in coordinates of the forward layout: the reversed forward edge if there is one.
 *
 * @param edges the edges of the forward layout
 * @param gradients in the direction in which gradients flow
 */
export function gradientPaths(forward: NestedResult, edges: Ends, gradients: Ends): EdgePaths {
  const itemCount = forward.x.length;
  const forwardEdge = new Map<number, number>();
  for (let e = 0; e < edges.source.length; e++) {
    forwardEdge.set(edges.source[e]! * itemCount + edges.target[e]!, e);
  }
  const edgeCount = gradients.source.length;
  const edgeStart = new Int32Array(edgeCount + 1);
  const edgeKind = new Uint8Array(edgeCount);
  const points = new PointList();
  let side = forward.totalWidth;
  for (let e = 0; e < edgeCount; e++) {
    edgeStart[e] = points.length;
    const from = gradients.source[e]!;
    const to = gradients.target[e]!;
    const along = forwardEdge.get(to * itemCount + from);
    if (along !== undefined) {
      edgeKind[e] = forward.edgeKind[along]!;
      for (let i = forward.edgeStart[along + 1]! - 1; i >= forward.edgeStart[along]!; i--) {
        points.push(forward.pathX[i]!, forward.pathY[i]!);
      }
    } else if (from !== to) {
      let [fromX, toX] = [forward.x[from]!, forward.x[to]!];
      const top = forward.y[from]! - forward.height[from]! / 2;
      const bottom = forward.y[to]! + forward.height[to]! / 2;
      const rise = top - bottom;
      if (rise > 0 && rise < NEAR_PX) {
        edgeKind[e] = EDGE_CURVE;
        points.push(fromX, top);
        points.push(toX, bottom);
      } else {
        edgeKind[e] = EDGE_LANE;
        // Start and end away from the middle, where the reversed forward edges are.
        fromX += Math.min(16, forward.width[from]! / 4);
        toX += Math.min(16, forward.width[to]! / 4);
        side += LANE_GAP_PX;
        points.push(fromX, top);
        points.push(fromX, top - LANE_GAP_PX);
        points.push(side, top - LANE_GAP_PX);
        points.push(side, bottom + LANE_GAP_PX);
        points.push(toX, bottom + LANE_GAP_PX);
        points.push(toX, bottom);
      }
    }
  }
  edgeStart[edgeCount] = points.length;
  const pathX = points.x.slice(0, points.length);
  return { edgeStart, pathX, pathY: points.y.slice(0, points.length), edgeKind };
}
