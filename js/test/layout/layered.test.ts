import { describe, expect, test } from "vitest";
import { EDGE_CURVE, EDGE_FEEDBACK, EDGE_LANE } from "../../src/layout/index.ts";
import {
  Builder,
  corpus,
  flatChain,
  hubChain,
  pureResidual,
  randomDag,
  seeded,
  star,
} from "./graphs/corpus.ts";
import { type LayoutGraph, layoutGraph } from "./graphs/flat_graph.ts";
import { looseEnds, overlaps, piercedBoxes } from "./properties.ts";
import { countLineCrossings, drawnLines } from "./yardstick.ts";

/** Everything that must hold for a finished layout. */
function faults(graph: LayoutGraph): string[] {
  const result = layoutGraph(graph);
  const boxes = { ...graph, ...result, width: graph.width, height: graph.height };
  const { edgeSource, edgeTarget } = graph;
  const outside = [...result.x.keys()].filter(
    (v) =>
      result.x[v]! - graph.width[v]! / 2 < -0.01 ||
      result.x[v]! + graph.width[v]! / 2 > result.width + 0.01 ||
      result.y[v]! - graph.height[v]! / 2 < -0.01 ||
      result.y[v]! + graph.height[v]! / 2 > result.height + 0.01,
  );
  return [
    ...outside.map((v) => `box ${v} outside`),
    ...overlaps(boxes).map((pair) => `overlap ${pair}`),
    ...looseEnds(boxes, result, edgeSource, edgeTarget),
    ...piercedBoxes(boxes, result, edgeSource, edgeTarget),
  ];
}

describe("every layout", () => {
  test.each(Object.entries(corpus))("%s holds together", (_, make) => {
    expect(faults(make().graph())).toEqual([]);
  });

  test("holds for boxes of many sizes", () => {
    const random = seeded(7);
    for (let seed = 0; seed < 12; seed++) {
      const graph = randomDag(20 + 10 * seed, 1.4, seed).graph();
      graph.width.forEach((_, v) => {
        graph.width[v] = 10 + 200 * random();
        graph.height[v] = 10 + 120 * random() ** 4;
      });
      expect(faults(graph)).toEqual([]);
    }
  });

  test("holds for graphs with cycles, self loops and doubled edges", () => {
    const random = seeded(3);
    for (let round = 0; round < 20; round++) {
      const b = new Builder();
      for (let v = 0; v < 30; v++) b.op("op");
      for (let e = 0; e < 45; e++) b.edge(Math.floor(random() * 30), Math.floor(random() * 30));
      const graph = b.graph();
      expect(faults(graph)).toEqual([]);
    }
  });

  test("is the same each time and leaves its input alone", () => {
    const graph = randomDag(150, 1.4, 5).graph();
    const before = structuredClone(graph);
    const first = layoutGraph(graph);
    expect(layoutGraph(graph)).toEqual(first);
    expect(graph).toEqual(before);
  });
});

describe("the main path", () => {
  test("of a residual chain is one straight line through every op", () => {
    const graph = pureResidual(200).graph();
    const { x, onMainPath } = layoutGraph(graph);
    expect(new Set(x).size).toBe(1);
    expect(onMainPath.every((on) => on === 1)).toBe(true);
  });

  test.each(["residual 1000", "attention mask 1000", "unet 6", "lstm 10x2", "random 200"])(
    "of %s has one x",
    (name) => {
      const { x, onMainPath } = layoutGraph(corpus[name]!().graph());
      const at = [...x].filter((_, v) => onMainPath[v] === 1);
      expect(at.length).toBeGreaterThan(10);
      expect(Math.max(...at) - Math.min(...at)).toBeLessThan(1e-6);
    },
  );

  test("follows the heavier edges", () => {
    const b = new Builder();
    const top = b.op("top");
    const [light, heavy] = [b.op("light", top), b.op("heavy", top)];
    b.op("bottom", light, heavy);
    const { onMainPath } = layoutGraph({ ...b.graph(), edgeWeight: Float64Array.of(1, 5, 1, 5) });
    expect([...onMainPath]).toEqual([1, 0, 1, 1]);
  });
});

describe("ranks", () => {
  test("put a parameter just above its consumer", () => {
    const b = new Builder();
    const last = b.chain(b.op("input"), ..."abcdefgh");
    const weight = b.op("weight");
    const linear = b.op("linear", last, weight);
    const { y } = layoutGraph(b.graph());
    expect(y[weight]).toBe(y[last]);
    expect(y[weight]).toBeLessThan(y[linear]!);
  });
});

describe("edges", () => {
  test("against the flow are feedback, those with it are not", () => {
    const b = new Builder();
    const [a, c] = [b.op("a"), b.op("c")];
    b.edge(a, c);
    b.edge(c, a);
    b.edge(c, c);
    const { edgeKind, y } = layoutGraph(b.graph());
    expect([...edgeKind]).toEqual([EDGE_CURVE, EDGE_FEEDBACK, EDGE_FEEDBACK]);
    expect(y[a]).toBeLessThan(y[c]!);
  });

  test("over very many ranks are lanes, and share one", () => {
    const graph = hubChain(400).graph();
    const { edgeKind, width } = layoutGraph(graph, { laneSpan: 50 });
    expect(edgeKind.filter((kind) => kind === EDGE_LANE).length).toBeGreaterThan(300);
    expect(width).toBeLessThan(300);
  });

  test("of one box do not meet it in one point", () => {
    const b = new Builder();
    const inputs = Array.from({ length: 5 }, () => b.op("input"));
    b.op("concatenate", ...inputs);
    const { pathX, edgeStart } = layoutGraph(b.graph());
    const ends = inputs.map((_, e) => pathX[edgeStart[e + 1]! - 1]!);
    expect(new Set(ends).size).toBe(5);
  });
});

describe("sizes and shapes", () => {
  test("a chain of 100,000 and a hub with 10,000 consumers do not overflow", () => {
    const chain = layoutGraph(flatChain(100_000).graph());
    expect(new Set(chain.x).size).toBe(1);
    const hub = layoutGraph(hubChain(10_000).graph());
    expect(hub.width).toBeLessThan(400);
    expect(hub.pathX.length).toBeLessThan(200_000);
    expect(layoutGraph(star(10_000).graph()).onMainPath[0]).toBe(1);
  });

  test("boxes without edges make a compact grid", () => {
    const b = new Builder();
    for (let v = 0; v < 400; v++) b.op("parameter");
    const { width, height } = layoutGraph(b.graph());
    expect(width / height).toBeGreaterThan(0.8);
    expect(width / height).toBeLessThan(3);
  });

  test("parts that are not connected lie side by side", () => {
    const b = new Builder();
    const tops = [b.op("a"), b.op("b")];
    const bottoms = tops.map((top) => b.chain(top, ..."xyz"));
    const { x, y } = layoutGraph(b.graph());
    expect(y[tops[0]!]).toBe(y[tops[1]!]);
    expect(x[tops[0]!]).toBeLessThan(x[tops[1]!]!);
    expect(y[bottoms[0]!]).toBe(y[bottoms[1]!]);
  });

  test("a wide fan of leaves becomes a comb of rows", () => {
    const b = new Builder();
    const rate = b.op("full");
    for (let i = 0; i < 150; i++) b.op("adamw", rate);
    const norms = Array.from({ length: 80 }, () => b.op("squared_l2_norm"));
    b.chain(b.op("add_n", ...norms), "sqrt", "clip");
    b.edge(norms[0]!, b.op("print"));
    const graph = b.graph();
    expect(faults(graph)).toEqual([]);
    const { width, height, onMainPath } = layoutGraph(graph);
    expect(width).toBeLessThan(4000);
    expect(height).toBeLessThan(2500);
    expect(onMainPath[rate]).toBe(1);
  });

  test("many branches between two boxes become rows too, with no line across another", () => {
    const b = new Builder();
    const hub = b.op("hub");
    const read = Array.from({ length: 200 }, (_, i) =>
      b.chain(hub, ...["relu", "exp"].slice(i % 2)),
    );
    const total = b.op("add_n", ...read);
    b.chain(total, "sqrt");
    const graph = b.graph();
    graph.height[5] = 60;
    expect(faults(graph)).toEqual([]);
    const result = layoutGraph(graph);
    expect(result.width).toBeLessThan(3000);
    expect(result.x[hub]).toBe(result.x[total]);
    expect(countLineCrossings(drawnLines(result))).toBe(0);
  });

  test("a few branches stay side by side", () => {
    const b = new Builder();
    const hub = b.op("hub");
    b.op("add_n", ...Array.from({ length: 12 }, () => b.chain(hub, "relu", "exp")));
    const { y } = layoutGraph(b.graph());
    expect(new Set(y).size).toBe(4);
  });

  test("an empty graph is an empty picture", () => {
    const { width, height, edgeStart } = layoutGraph(new Builder().graph());
    expect([width, height, edgeStart.length]).toEqual([0, 0, 1]);
  });
});
