/** The paired view: every grad node on the row of the op that made it, gradients flowing up. */

import { EDGE_CURVE, EDGE_LANE, type EdgePaths, type NestedResult } from "./contract.ts";
import { PointList } from "./points.ts";

export interface LadderInput {
  /** The finished forward layout and the graph's edges and parents it was made from. */
  forward: NestedResult;
  parent: Int32Array;
  open: Uint8Array;
  edgeSource: Int32Array;
  edgeTarget: Int32Array;
  /** 1 for each box with at least one grad node. */
  paired: Uint8Array;
  /** Backward edges between the grad nodes of two boxes, in the direction gradients flow. */
  gradSource: Int32Array;
  gradTarget: Int32Array;
}

export interface LadderOptions {
  /** Distance between the two columns. Default 96. */
  gutterPx?: number;
  /** Distance between edges that have no forward counterpart. Default 12. */
  laneGap?: number;
}

/** The right column, in the coordinates of the forward layout. `EdgePaths` are those of the backward edges. */
export interface LadderResult extends EdgePaths {
  /** Add this to a forward x to get to the right column; y stays. */
  shiftX: number;
  /** 1 for each item that the right column shows: paired boxes and the open groups round them. */
  shown: Uint8Array;
  totalWidth: number;
}

/** @returns the right column: a copy of the left one at the same heights, where there are grad nodes. */
export function layoutLadder(input: LadderInput, options: LadderOptions = {}): LadderResult {
  const { forward, parent, gradSource, gradTarget } = input;
  const { gutterPx = 96, laneGap = 12 } = options;
  const itemCount = parent.length;
  const shiftX = forward.totalWidth + gutterPx;
  const shown = input.paired.slice();
  for (let i = itemCount - 1; i >= 0; i--) {
    if (shown[i] && parent[i]! >= 0) shown[parent[i]!] = 1;
  }

  const forwardEdge = new Map<number, number>();
  for (let e = 0; e < input.edgeSource.length; e++) {
    forwardEdge.set(input.edgeSource[e]! * itemCount + input.edgeTarget[e]!, e);
  }
  const edgeCount = gradSource.length;
  const edgeStart = new Int32Array(edgeCount + 1);
  const edgeKind = new Uint8Array(edgeCount);
  const points = new PointList();
  let lanes = 0;
  for (let e = 0; e < edgeCount; e++) {
    edgeStart[e] = points.length;
    const from = gradSource[e]!;
    const to = gradTarget[e]!;
    const along = forwardEdge.get(to * itemCount + from);
    if (along !== undefined) {
      edgeKind[e] = forward.edgeKind[along]!;
      for (let i = forward.edgeStart[along + 1]! - 1; i >= forward.edgeStart[along]!; i--) {
        points.push(forward.pathX[i]! + shiftX, forward.pathY[i]!);
      }
    } else if (from !== to) {
      const x = [from, to].map((item) => forward.x[item]! + shiftX) as [number, number];
      const top = forward.y[from]! - forward.height[from]! / 2;
      const bottom = forward.y[to]! + forward.height[to]! / 2;
      const rise = top - bottom;
      if (rise > 0 && rise < NEAR_PX) {
        edgeKind[e] = EDGE_CURVE;
        points.push(x[0], top);
        points.push(x[1], bottom);
      } else {
        edgeKind[e] = EDGE_LANE;
        // Beside the middle, where the forward edges' counterparts run.
        x[0] += Math.min(16, forward.width[from]! / 4);
        x[1] += Math.min(16, forward.width[to]! / 4);
        const side = shiftX + forward.totalWidth + ++lanes * laneGap;
        points.push(x[0], top);
        points.push(x[0], top - laneGap);
        points.push(side, top - laneGap);
        points.push(side, bottom + laneGap);
        points.push(x[1], bottom + laneGap);
        points.push(x[1], bottom);
      }
    }
  }
  edgeStart[edgeCount] = points.length;
  return {
    shiftX,
    shown,
    totalWidth: shiftX + forward.totalWidth + lanes * laneGap,
    edgeStart,
    pathX: points.x.slice(0, points.length),
    pathY: points.y.slice(0, points.length),
    edgeKind,
  };
}

/** Boxes of neighbouring ranks are nearer than this: nothing lies between them. */
const NEAR_PX = 60;
