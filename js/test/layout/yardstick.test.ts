import { describe, expect, test } from "vitest";
import { layoutGraph, layoutNested } from "../../src/layout/index.ts";
import { corpus } from "./corpus.ts";
import { hasDot, layoutWithDot } from "./dot.ts";
import { storedGraphs } from "./stored_graphs.ts";
import { countLineCrossings, drawnLines } from "./yardstick.ts";

// Graphviz's dot is the yardstick for pictures: where it is not installed there is nothing to measure against.
const dot = hasDot();
if (!dot) console.warn("dot is not installed: layouts are not compared with it");

// dot's own pictures of the largest of these take it half a minute.
const compared = Object.entries(corpus).filter(([name]) => !/1000|20x4/.test(name));

describe.skipIf(!dot)("beside dot", () => {
  test("pictures have no more crossings and are not wider", { timeout: 120_000 }, () => {
    let ours = 0;
    let theirs = 0;
    for (const [name, make] of compared) {
      const graph = make().graph();
      const reference = layoutWithDot(graph);
      const dotCrossings = countLineCrossings(reference.lines);
      const result = layoutGraph(graph);
      const crossings = countLineCrossings(drawnLines(result));
      ours += crossings;
      theirs += dotCrossings;
      expect.soft(crossings, `crossings of ${name}`).toBeLessThanOrEqual(1.25 * dotCrossings + 2);
      expect.soft(result.width, `width of ${name}`).toBeLessThanOrEqual(1.3 * reference.width);
    }
    expect(ours).toBeLessThanOrEqual(1.1 * theirs);
  });
});

test("pictures of traced models have no more crossings than dot's", () => {
  let ours = 0;
  let theirs = 0;
  for (const { name, dotCrossings, graph } of storedGraphs()) {
    const picture = "itemCount" in graph ? layoutNested(graph) : layoutGraph(graph);
    const crossings = countLineCrossings(drawnLines(picture));
    ours += crossings;
    theirs += dotCrossings;
    expect
      .soft(crossings, `crossings of ${name}`)
      .toBeLessThanOrEqual(Math.max(1.1 * dotCrossings, dotCrossings + 2));
  }
  expect(ours).toBeLessThanOrEqual(1.1 * theirs);
});

test("the yardstick counts crossings", () => {
  expect(
    countLineCrossings([
      [0, 0, 10, 10],
      [10, 0, 0, 10],
      [0, 5, 10, 5.5],
    ]),
  ).toBe(3);
  // Sharing an end, touching, and running along each other are no crossings.
  expect(
    countLineCrossings([
      [0, 0, 5, 9],
      [0, 0, 9, 9],
      [0, 0, 5, 9],
    ]),
  ).toBe(0);
});
