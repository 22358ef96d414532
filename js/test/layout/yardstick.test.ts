import { expect, test } from "vitest";
import { layoutNested } from "../../src/layout/index.ts";
import { corpus } from "./graphs/corpus.ts";
import { dotAnswers } from "./graphs/dot_answers.ts";
import { layoutGraph } from "./graphs/flat_graph.ts";
import { storedGraphs } from "./graphs/stored_graphs.ts";
import { countLineCrossings, drawnLines } from "./yardstick.ts";

// dot's own pictures of the largest of these take it half a minute each.
const compared = Object.entries(corpus).filter(([name]) => !/1000|20x4/.test(name));

test("pictures have no more crossings than dot's and are not wider", () => {
  const graphs = Object.fromEntries(compared.map(([name, make]) => [name, make().graph()]));
  const answers = dotAnswers(graphs);
  let ours = 0;
  let theirs = 0;
  for (const [name, graph] of Object.entries(graphs)) {
    const dot = answers[name]!;
    const result = layoutGraph(graph);
    const crossings = countLineCrossings(drawnLines(result));
    ours += crossings;
    theirs += dot.crossings;
    expect.soft(crossings, `crossings of ${name}`).toBeLessThanOrEqual(1.25 * dot.crossings + 2);
    expect.soft(result.width, `width of ${name}`).toBeLessThanOrEqual(1.3 * dot.width);
  }
  expect(ours).toBeLessThanOrEqual(1.1 * theirs);
}, 120_000);

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
