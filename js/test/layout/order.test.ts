/** Crossing reduction: what its moves say they remove, and what the counter says there is. */

import { describe, expect, test } from "vitest";
import { type Boxes, makeFlow } from "../../src/layout/layered/flow.ts";
import { CrossingCounter } from "../../src/layout/layered/ordering/crossings.ts";
import { orderRanks } from "../../src/layout/layered/ordering/order.ts";
import { Transposition } from "../../src/layout/layered/ordering/transpose.ts";
import { makeProper, numberPositions, type Proper } from "../../src/layout/layered/proper.ts";
import { rankBoxes } from "../../src/layout/layered/rank.ts";
import { randomDag, seeded } from "./graphs/corpus.ts";
import { layeredRandom } from "./graphs/crossings_corpus.ts";
import { boxesOf } from "./graphs/flat_graph.ts";

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

/** Every pair of segments between two ranks. */
function crossingsByPairs(proper: Proper): number {
  const { segmentCount, segmentFrom, segmentTo, position, levels, fromLevel, toLevel } = proper;
  const above = (s: number): number => position[segmentFrom[s]!]! * levels + fromLevel[s]!;
  const below = (s: number): number => position[segmentTo[s]!]! * levels + toLevel[s]!;
  let count = 0;
  for (let s = 0; s < segmentCount; s++) {
    for (let t = 0; t < s; t++) {
      if (proper.rank[segmentFrom[s]!] !== proper.rank[segmentFrom[t]!]) continue;
      if ((above(s) - above(t)) * (below(s) - below(t)) < 0) count++;
    }
  }
  return count;
}

describe("the order of ranks", () => {
  const graphs: [string, Boxes][] = [
    ["with long edges", boxesOf(randomDag(120, 1.6, 3).graph())],
    ["in layers", boxesOf(layeredRandom(8, 10, 2, 5).graph())],
    ["with fixed ports", withPorts(boxesOf(randomDag(90, 1.5, 4).graph()))],
  ];

  test.each(graphs)("crossings are counted as they are: %s", (_, boxes) => {
    const proper = properOf(boxes);
    const crossings = new CrossingCounter(proper);
    expect(crossings.total()).toBe(crossingsByPairs(proper));
    orderRanks(proper, boxes.byOrder);
    crossings.markAllChanged();
    expect(crossings.total()).toBe(crossingsByPairs(proper));
  });

  test.each(graphs)("transposition leaves no two neighbours that should swap: %s", (_, boxes) => {
    const proper = properOf(boxes);
    const crossings = new CrossingCounter(proper);
    const before = crossings.total();
    new Transposition(proper, crossings).run(false);
    const after = crossings.total();
    expect(after).toBe(crossingsByPairs(proper));
    expect(after).toBeLessThan(before);
    const { layer, position, rank } = proper;
    for (let i = 0; i + 1 < layer.length; i++) {
      const [v, w] = [layer[i]!, layer[i + 1]!];
      if (rank[v] !== rank[w]) continue;
      [position[v], position[w]] = [i + 1, i];
      expect(crossingsByPairs(proper)).toBeGreaterThanOrEqual(after);
      [position[v], position[w]] = [i, i + 1];
    }
  });

  test.each(graphs)("has far fewer crossings than the given one: %s", (_, boxes) => {
    const proper = properOf(boxes);
    const before = crossingsByPairs(proper);
    orderRanks(proper, boxes.byOrder);
    expect(crossingsByPairs(proper)).toBeLessThan(before / 3);
  });
});
