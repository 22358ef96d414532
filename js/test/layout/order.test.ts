/** The search for an order of the ranks: what its moves say they gain, and what they cannot miss. */

import { describe, expect, test } from "vitest";
import { type Boxes, makeFlow } from "../../src/layout/flow.ts";
import { boxesOf } from "../../src/layout/index.ts";
import { makeProper, numberPositions, type Proper } from "../../src/layout/proper.ts";
import { rankBoxes } from "../../src/layout/rank.ts";
import { Sweeper } from "../../src/layout/sweeper.ts";
import { randomDag, seeded } from "./corpus.ts";
import { layeredRandom } from "./crossings_corpus.ts";

function properOf(boxes: Boxes): Proper {
  const flow = makeFlow(boxes);
  const proper = makeProper(boxes, flow, rankBoxes(boxes, flow), 200);
  for (let rank = 0; rank < proper.rankCount; rank++) numberPositions(proper, rank);
  return proper;
}

function withPorts(boxes: Boxes): Boxes {
  const random = seeded(3);
  const ports = (): Float64Array => boxes.sourcePort.map(() => Math.floor(100 * random()) - 50);
  return { ...boxes, sourcePort: ports(), targetPort: ports() };
}

describe("the order of ranks", () => {
  const graphs: [string, Boxes][] = [
    ["with long edges", boxesOf(randomDag(120, 1.6, 3).graph())],
    ["in layers", boxesOf(layeredRandom(8, 10, 2, 5).graph())],
    ["with fixed ports", withPorts(boxesOf(randomDag(90, 1.5, 4).graph()))],
  ];

  test.each(graphs)("moving paths removes as many crossings as it says: %s", (_, boxes) => {
    const proper = properOf(boxes);
    const weight = Float64Array.from({ length: proper.segmentCount }, (__, s) => 1 + (s % 3));
    const sweeper = new Sweeper(proper, weight);
    let crossings = sweeper.countAll();
    for (let round = 0; round < 8; round++) {
      const gained = sweeper.movePaths(round % 2 === 1, Number.POSITIVE_INFINITY);
      sweeper.restart();
      const left = sweeper.countAll();
      expect(crossings - left).toBeCloseTo(gained);
      expect(gained).toBeGreaterThanOrEqual(0);
      crossings = left;
    }
    expect(crossings).toBeGreaterThan(0);
  });
});
