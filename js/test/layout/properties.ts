/** What must hold for every picture. Each function returns what is wrong, in words. */

import { EDGE_FEEDBACK, type EdgePaths } from "../../src/layout/contract.ts";
import { drawnLines } from "./yardstick.ts";

/** Boxes by centre and size. */
export interface Placed {
  x: Float64Array;
  y: Float64Array;
  width: Float64Array;
  height: Float64Array;
}

const NEAR = 0.01;

/** Pairs of boxes that overlap, among those `isCounted` names. */
export function overlaps(
  boxes: Placed,
  isCounted: (box: number) => boolean = () => true,
): string[] {
  const found: string[] = [];
  const byTop = [...boxes.x.keys()]
    .filter(isCounted)
    .sort((a, b) => boxes.y[a]! - boxes.height[a]! / 2 - (boxes.y[b]! - boxes.height[b]! / 2));
  let open: number[] = [];
  for (const box of byTop) {
    const top = boxes.y[box]! - boxes.height[box]! / 2;
    open = open.filter((other) => boxes.y[other]! + boxes.height[other]! / 2 > top + NEAR);
    for (const other of open) {
      const apart = Math.abs(boxes.x[box]! - boxes.x[other]!);
      if (apart < (boxes.width[box]! + boxes.width[other]!) / 2 - NEAR)
        found.push(`${other}/${box}`);
    }
    open.push(box);
  }
  return found;
}

/** Edges whose path does not run from its source's border to its target's, and not downwards where it should. */
export function looseEnds(
  boxes: Placed,
  paths: EdgePaths,
  source: Int32Array,
  target: Int32Array,
): string[] {
  const found: string[] = [];
  const touches = (box: number, x: number, y: number): boolean => {
    const aside = Math.abs(x - boxes.x[box]!) - boxes.width[box]! / 2;
    const above = Math.abs(y - boxes.y[box]!) - boxes.height[box]! / 2;
    return aside < NEAR && above < NEAR && (aside > -NEAR || above > -NEAR);
  };
  for (let e = 0; e < source.length; e++) {
    const first = paths.edgeStart[e]!;
    const last = paths.edgeStart[e + 1]! - 1;
    const u = source[e]!;
    const v = target[e]!;
    if (last <= first) found.push(`edge ${e} has no path`);
    else if (!touches(u, paths.pathX[first]!, paths.pathY[first]!))
      found.push(`edge ${e} leaves air`);
    else if (!touches(v, paths.pathX[last]!, paths.pathY[last]!))
      found.push(`edge ${e} ends in air`);
    else if (
      paths.edgeKind[e] !== EDGE_FEEDBACK &&
      boxes.y[u]! + boxes.height[u]! / 2 >= boxes.y[v]! - boxes.height[v]! / 2
    ) {
      found.push(`edge ${e} does not go down`);
    }
  }
  return found;
}

/** Edges whose drawn line enters a box, among those `isCounted` names, that is not one of its ends. */
export function piercedBoxes(
  boxes: Placed,
  paths: EdgePaths,
  source: Int32Array,
  target: Int32Array,
  isCounted: (box: number) => boolean = () => true,
): string[] {
  const CELL = 64;
  const cells = new Map<string, number[]>();
  for (const box of boxes.x.keys()) {
    if (!isCounted(box)) continue;
    const [left, right] = [
      boxes.x[box]! - boxes.width[box]! / 2,
      boxes.x[box]! + boxes.width[box]! / 2,
    ];
    const [top, bottom] = [
      boxes.y[box]! - boxes.height[box]! / 2,
      boxes.y[box]! + boxes.height[box]! / 2,
    ];
    for (let i = Math.floor(left / CELL); i <= Math.floor(right / CELL); i++) {
      for (let j = Math.floor(top / CELL); j <= Math.floor(bottom / CELL); j++) {
        const key = `${i},${j}`;
        const cell = cells.get(key);
        if (cell) cell.push(box);
        else cells.set(key, [box]);
      }
    }
  }
  const found = new Set<string>();
  drawnLines(paths).forEach((line, e) => {
    for (let i = 0; i + 3 < line.length; i += 2) {
      const [x0, y0, x1, y1] = line.slice(i, i + 4) as [number, number, number, number];
      const steps = Math.max(1, Math.ceil(Math.hypot(x1 - x0, y1 - y0) / 8));
      for (let s = 0; s <= steps; s++) {
        const x = x0 + ((x1 - x0) * s) / steps;
        const y = y0 + ((y1 - y0) * s) / steps;
        for (const box of cells.get(`${Math.floor(x / CELL)},${Math.floor(y / CELL)}`) ?? []) {
          if (box === source[e] || box === target[e]) continue;
          const aside = Math.abs(x - boxes.x[box]!) - boxes.width[box]! / 2;
          const above = Math.abs(y - boxes.y[box]!) - boxes.height[box]! / 2;
          if (aside < -0.5 && above < -0.5) found.add(`edge ${e} through ${box}`);
        }
      }
    }
  });
  return [...found];
}
