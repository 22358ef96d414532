import { describe, expect, test } from "vitest";
import type { LayoutGraph } from "../../src/layout/contract.ts";
import { EDGE_LANE, layoutGraph } from "../../src/layout/index.ts";
import { Builder, seeded } from "./corpus.ts";

const GAP_PX = 32;

interface Made {
  graph: LayoutGraph;
  /** Boxes of the blocks, in the same order however long the chains between them are. */
  blocks: number[];
  /** Boxes of the chains before each block. */
  chains: number[][];
}

/** Blocks of several shapes one below the other, with a chain of `length` boxes before each. */
function blocksAndChains(seed: number, length: number): Made {
  const random = seeded(seed);
  const b = new Builder();
  const blocks: number[] = [];
  const chains: number[][] = [];
  const op = (...inputs: number[]): number => {
    const v = b.op("op", ...inputs);
    blocks.push(v);
    return v;
  };
  let at = op();
  for (let k = 0; k < 6; k++) {
    const chain: number[] = [];
    for (let i = 0; i < length; i++) {
      at = b.op("chain", at);
      chain.push(at);
    }
    chains.push(chain);
    const first = op(at);
    const shape = Math.floor(5 * random());
    if (shape === 0) at = op(op(first), op(op(first)));
    else if (shape === 1) at = op(first, op());
    else if (shape === 2) at = op(op(op(op(op(op(first))))), first);
    else if (shape === 3) {
      op(op(first));
      at = op(first);
    } else {
      at = op(first);
      b.edge(at, first);
    }
    at = op(at);
  }
  const graph = b.graph();
  for (const v of blocks) {
    graph.width[v] = 60 + Math.floor(200 * random());
    graph.height[v] = 20 + Math.floor(60 * random());
  }
  for (const chain of chains) {
    const widest = 60 + Math.floor(300 * random());
    chain.forEach((v, i) => {
      graph.width[v] = i === 0 ? widest : widest / 2;
      graph.height[v] = 30;
    });
  }
  return { graph, blocks, chains };
}

describe("a straight", () => {
  test.each(Array.from({ length: 20 }, (_, seed) => seed))(
    "is as many boxes, and all beside it stays as it is (%i)",
    (seed) => {
      // One box between two others is no straight: this is laid out rank by rank.
      const short = blocksAndChains(seed, 1);
      const long = blocksAndChains(seed, 9);
      const before = layoutGraph(short.graph);
      const after = layoutGraph(long.graph);
      expect(after.width).toBe(before.width);
      const longer = 8 * (30 + GAP_PX);
      expect(after.height).toBeCloseTo(before.height + long.chains.length * longer);
      short.blocks.forEach((v, i) => {
        const w = long.blocks[i]!;
        const chainsAbove = short.chains.filter(([first]) => before.y[first!]! < before.y[v]!);
        expect([after.x[w], after.trunk[w]]).toEqual([before.x[v], before.trunk[v]]);
        expect(after.y[w]).toBeCloseTo(before.y[v]! + chainsAbove.length * longer);
      });
      long.chains.forEach((chain, i) => {
        const top = before.y[short.chains[i]![0]!]! + i * longer;
        chain.forEach((v, place) => {
          expect(after.x[v]).toBe(before.x[short.chains[i]![0]!]);
          expect(after.y[v]).toBeCloseTo(top + place * (30 + GAP_PX));
        });
      });
    },
  );

  test("is joined by upright lines from box to box", () => {
    const { graph } = blocksAndChains(3, 5);
    const { x, y, pathX, pathY, edgeStart } = layoutGraph(graph);
    graph.edgeSource.forEach((from, e) => {
      const to = graph.edgeTarget[e]!;
      const isDoubled = graph.edgeSource.some(
        (f, i) => i !== e && (f === from || graph.edgeTarget[i] === to),
      );
      if (isDoubled || x[from] !== x[to] || y[to]! < y[from]!) return;
      const points = [edgeStart[e]!, edgeStart[e + 1]! - 1];
      expect(points.map((i) => pathX[i])).toEqual([x[from], x[to]]);
      const ends = [y[from]! + graph.height[from]! / 2, y[to]! - graph.height[to]! / 2];
      expect(points.map((i) => pathY[i])).toEqual(ends);
    });
  });

  test("is as wide as its widest box", () => {
    const b = new Builder();
    b.chain(b.op("first"), ..."abcdefgh");
    const graph = b.graph();
    graph.width[4] = 500;
    const { width, x } = layoutGraph(graph);
    expect([width, new Set(x).size]).toEqual([500, 1]);
  });

  test("weighs as much as all its lines where the trunk is chosen", () => {
    const b = new Builder();
    const chain = b.chain(b.op("first"), ..."abcdefgh");
    const beside = b.chain(b.op("other"), "p", "q");
    const own = b.chain(chain, "r", "s", "t");
    b.op("sum", own, beside);
    const graph = b.graph();
    // Three lines beside it weigh 9; below the chain are four of 1.
    const edgeWeight = Float64Array.from(graph.edgeSource, (from, e) =>
      (from >= 9 && graph.edgeTarget[e]! <= beside) || from === beside ? 3 : 1,
    );
    const { trunk } = layoutGraph({ ...graph, edgeWeight });
    expect([trunk[0], trunk[chain], trunk[beside]]).toEqual([1, 1, 0]);
  });

  test("has no line beside it: an edge over very many ranks stays in its lane", () => {
    const b = new Builder();
    const first = b.op("first");
    const last = b.chain(first, ...Array.from({ length: 300 }, () => "op"));
    b.op("sum", last, first);
    const { edgeKind } = layoutGraph(b.graph());
    expect(edgeKind.at(-1)).toBe(EDGE_LANE);
  });
});
