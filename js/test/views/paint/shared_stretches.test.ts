import { expect, test } from "vitest";
import { traceEdges } from "../../../src/views/paint/shared_stretches.ts";
import type { SceneEdge } from "../../../src/views/scene/scene.ts";

function edge(source: number, target: number, ...points: [number, number][]): SceneEdge {
  const [pathX, pathY] = [points.map(([x]) => x), points.map(([, y]) => y)];
  return { source, target, pathX, pathY } as unknown as SceneEdge;
}

/** The lines that are traced, each as "x,y x,y …". */
function traced(edges: SceneEdge[], isFar = true, shortest = 0): string[] {
  const lines: string[] = [];
  const line = (x: number, y: number): void => {
    lines[lines.length - 1] += ` ${x},${y}`;
  };
  const context = {
    moveTo: (x: number, y: number) => lines.push(`${x},${y}`),
    lineTo: line,
    quadraticCurveTo: (_x: number, _y: number, x: number, y: number) => line(x, y),
    bezierCurveTo: (...to: number[]) => line(to[4]!, to[5]!),
  } as unknown as CanvasRenderingContext2D;
  traceEdges(context, edges, isFar, shortest);
  return lines;
}

test("lines from one box that follow a bus are drawn where they are their own", () => {
  const comb = [200, 300].map((x, i) => edge(0, i + 1, [0, 0], [0, 50], [x, 50], [x, 80]));
  // The second begins where it must to turn as if it had come all the way.
  expect(traced(comb)).toEqual(["0,0 0,50 200,50 200,80", "184,50 300,50 300,80"]);
  expect(traced([...comb].reverse())).toEqual(["0,0 0,50 300,50 300,80", "184,50 200,50 200,80"]);
});

test("lines to one box end in the one that is there", () => {
  const comb = [100, 200].map((x, i) => edge(i, 9, [x, 0], [x, 30], [400, 30], [400, 90]));
  expect(traced(comb)).toEqual(["100,0 100,30 400,30 400,90", "200,0 200,30 216,30"]);
});

test("a line that leaves another at a corner begins before it", () => {
  const straight = edge(0, 1, [0, 0], [0, 400]);
  const aside = edge(0, 2, [0, 0], [0, 100], [70, 100], [70, 400]);
  expect(traced([straight, aside])[1]).toBe("0,84 0,100 70,100 70,400");
});

test("curves, and lines of other boxes, are drawn whole", () => {
  const curves = [10, 20].map((x, i) => edge(0, i + 1, [0, 0], [x, 40], [x, 60]));
  expect(traced(curves)).toEqual(["0,0 10,40 10,60", "0,0 20,40 20,60"]);
  const apart = [0, 1].map((box) => edge(box, box + 5, [0, 0], [0, 50], [90, 50]));
  expect(traced(apart)).toHaveLength(2);
});

test("the same line is drawn once, and from afar none that is shorter than can be seen", () => {
  const line = edge(0, 1, [0, 0], [0, 30]);
  expect(traced([line, { ...line }])).toHaveLength(1);
  expect(traced([line], true, 40)).toEqual([]);
});
