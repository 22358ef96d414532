/** Draws the path of an edge: only this file converts its points to lines. */

import type { EdgePaths } from "./contract.ts";

/** A canvas context, a Path2D, or anything that writes SVG path data. */
export interface CurveSink {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  bezierCurveTo(ax: number, ay: number, bx: number, by: number, x: number, y: number): void;
  quadraticCurveTo(ax: number, ay: number, x: number, y: number): void;
}

/**
 * Draw edge `edge` into `sink`.
 *
 * Steps along an axis are lines, with rounded corners where they turn. A slanted step is a curve that leaves
 * and arrives vertically; it always lies between two ranks, where there are no nodes.
 */
export function traceEdge(sink: CurveSink, paths: EdgePaths, edge: number, cornerPx = 8): void {
  const first = paths.edgeStart[edge]!;
  const end = paths.edgeStart[edge + 1]!;
  if (end - first > 1) traceStretch(sink, paths.pathX, paths.pathY, first, end - 1, cornerPx);
}

/** Draw the stretch of a path between two of its points. */
export function traceStretch(
  sink: CurveSink,
  pathX: ArrayLike<number>,
  pathY: ArrayLike<number>,
  first: number,
  last: number,
  cornerPx = 8,
): void {
  const end = last + 1;
  let x = pathX[first]!;
  let y = pathY[first]!;
  sink.moveTo(x, y);
  for (let i = first + 1; i < end; i++) {
    const nextX = pathX[i]!;
    const nextY = pathY[i]!;
    const stepX = nextX - x;
    const stepY = nextY - y;
    if (stepX !== 0 && stepY !== 0) {
      const middle = (y + nextY) / 2;
      sink.bezierCurveTo(x, middle, nextX, middle, nextX, nextY);
    } else {
      const turnX = i + 1 < end ? pathX[i + 1]! - nextX : 0;
      const turnY = i + 1 < end ? pathY[i + 1]! - nextY : 0;
      const turns = stepX === 0 ? turnY === 0 && turnX !== 0 : turnX === 0 && turnY !== 0;
      const length = Math.abs(stepX + stepY);
      const corner = turns ? Math.min(cornerPx, length / 2, Math.abs(turnX + turnY) / 2) : 0;
      if (corner > 0.5) {
        sink.lineTo(nextX - Math.sign(stepX) * corner, nextY - Math.sign(stepY) * corner);
        sink.quadraticCurveTo(
          nextX,
          nextY,
          nextX + Math.sign(turnX) * corner,
          nextY + Math.sign(turnY) * corner,
        );
      } else sink.lineTo(nextX, nextY);
    }
    x = nextX;
    y = nextY;
  }
}
