/** Measures pictures: crossings of the drawn lines. */

import type { EdgePaths } from "../../src/layout/contract.ts";
import { traceEdge } from "../../src/layout/curve.ts";

/** One polyline an edge: x, y, x, y, ... */
export type Lines = number[][];

/** Straight steps a curve. Odd: curves that change places cross in their middle, which must not be a corner. */
const STEPS = 7;

export function cubic(line: number[], c: readonly number[]): void {
  const [x0, y0, x1, y1, x2, y2, x3, y3] = c as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  for (let i = 1; i <= STEPS; i++) {
    const t = i / STEPS;
    const s = 1 - t;
    const [a, b, d, e] = [s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t];
    line.push(a * x0 + b * x1 + d * x2 + e * x3, a * y0 + b * y1 + d * y2 + e * y3);
  }
}

/** The drawn curves as polylines. */
export function drawnLines(paths: EdgePaths): Lines {
  const lines: Lines = [];
  for (let e = 0; e + 1 < paths.edgeStart.length; e++) {
    const line: number[] = [];
    const here = (): [number, number] => [line.at(-2)!, line.at(-1)!];
    traceEdge(
      {
        moveTo: (x, y) => line.push(x, y),
        lineTo: (x, y) => line.push(x, y),
        bezierCurveTo: (ax, ay, bx, by, x, y) => cubic(line, [...here(), ax, ay, bx, by, x, y]),
        quadraticCurveTo: (ax, ay, x, y) => line.push(ax, ay, x, y),
      },
      paths,
      e,
    );
    lines.push(line);
  }
  return lines;
}

/**
 * Crossings of the ink: proper crossings between the lines of different edges. Touching and running along each
 * other do not count.
 *
 * @param counts "ink": a stretch that several edges share is one line; "pairs": each of those edges counts
 */
export function countLineCrossings(lines: Lines, counts: "ink" | "pairs" = "ink"): number {
  interface Step {
    line: number;
    x0: number;
    y0: number;
    x1: number;
    y1: number;
  }
  const steps: Step[] = [];
  const drawn = new Set<string>();
  lines.forEach((points, line) => {
    for (let i = 0; i + 3 < points.length; i += 2) {
      const [x0, y0, x1, y1] = points.slice(i, i + 4) as [number, number, number, number];
      const key = `${x0} ${y0} ${x1} ${y1}`;
      if ((x0 === x1 && y0 === y1) || (counts === "ink" && drawn.has(key))) continue;
      drawn.add(key);
      steps.push({ line, x0, y0, x1, y1 });
    }
  });
  steps.sort((a, b) => Math.min(a.y0, a.y1) - Math.min(b.y0, b.y1));
  let crossings = 0;
  let active: Step[] = [];
  for (const s of steps) {
    const top = Math.min(s.y0, s.y1);
    active = active.filter((a) => Math.max(a.y0, a.y1) > top);
    for (const a of active) if (a.line !== s.line && crosses(a, s)) crossings++;
    active.push(s);
  }
  return crossings;

  function crosses(a: Step, b: Step): boolean {
    return sidesDiffer(a, b.x0, b.y0, b.x1, b.y1) && sidesDiffer(b, a.x0, a.y0, a.x1, a.y1);
  }
  function sidesDiffer(s: Step, px: number, py: number, qx: number, qy: number): boolean {
    const p = (s.x1 - s.x0) * (py - s.y0) - (s.y1 - s.y0) * (px - s.x0);
    const q = (s.x1 - s.x0) * (qy - s.y0) - (s.y1 - s.y0) * (qx - s.x0);
    return (p > 1e-6 && q < -1e-6) || (p < -1e-6 && q > 1e-6);
  }
}
