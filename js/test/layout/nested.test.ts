import { describe, expect, test } from "vitest";
import type { LayoutCache, NestedGraph, NestedResult } from "../../src/layout/index.ts";
import { layoutNested } from "../../src/layout/index.ts";
import { seeded } from "./graphs/corpus.ts";
import { decoder, resnet, ScopedBuilder } from "./graphs/nested_corpus.ts";
import { looseEnds, overlaps, piercedBoxes } from "./properties.ts";

/** Everything that must hold for a finished nested layout. */
function faults(graph: NestedGraph, result: NestedResult): string[] {
  const found: string[] = [];
  const { parent, open } = graph;
  for (let group = -1; group < graph.itemCount; group++) {
    found.push(
      ...overlaps(result, (item) => parent[item] === group).map((pair) => `overlap ${pair}`),
    );
  }
  for (let item = 0; item < graph.itemCount; item++) {
    const group = parent[item]!;
    const [x, y, w, h] =
      group < 0
        ? [result.totalWidth / 2, result.totalHeight / 2, result.totalWidth, result.totalHeight]
        : [result.x[group]!, result.y[group]!, result.width[group]!, result.height[group]!];
    const aside = Math.abs(result.x[item]! - x) + result.width[item]! / 2 - w / 2;
    const above = Math.abs(result.y[item]! - y) + result.height[item]! / 2 - h / 2;
    if (aside > 0.01 || above > 0.01) found.push(`item ${item} sticks out of ${group}`);
  }
  const { edgeSource, edgeTarget } = graph;
  found.push(...looseEnds(result, result, edgeSource, edgeTarget));
  found.push(...piercedBoxes(result, result, edgeSource, edgeTarget, (item) => open[item] === 0));
  return found;
}

const everything = (): boolean => true;

describe("open groups", () => {
  test.each([
    ["a decoder, all open", decoder(6).nested(everything)],
    ["a decoder, one block open", decoder(12).nested((s) => s.startsWith("layers.3"))],
    ["a decoder, closed", decoder(12).nested(() => false)],
    ["a ResNet, all open", resnet(4, 3).nested(everything)],
    ["a ResNet, one stage open", resnet(4, 3).nested((s) => s.startsWith("layer2"))],
  ])("%s hold together", (_, { graph }) => {
    expect(faults(graph, layoutNested(graph))).toEqual([]);
  });

  test("hold together for random trees and edges", { timeout: 60_000 }, () => {
    for (let seed = 0; seed < 12; seed++) {
      const random = seeded(seed);
      const b = new ScopedBuilder();
      const grow = (depth: number): void => {
        for (let i = 0; i < 5; i++) {
          if (depth < 3 && random() < 0.35) b.within(`g${i}`, () => grow(depth + 1));
          else {
            const id = b.op("op");
            for (let k = 0; k < 2 && id > 0; k++) {
              if (random() < 0.8) b.edge(Math.floor(random() * id), id);
            }
          }
        }
      };
      grow(0);
      grow(0);
      const { graph } = b.nested(everything);
      const result = layoutNested(graph);
      // Edges between groups that need each other go round frames and may meet other boxes there.
      const isCyclic = result.edgeKind.includes(2);
      expect(
        faults(graph, result).filter((fault) => !(isCyclic && fault.startsWith("edge"))),
      ).toEqual([]);
    }
  });

  test("let the main path pass straight", () => {
    const { graph, labels } = decoder(4).nested(everything);
    const { x, onMainPath } = layoutNested(graph);
    const boxes = [...x.keys()].filter((item) => onMainPath[item] === 1 && graph.open[item] === 0);
    expect(boxes.length).toBeGreaterThan(50);
    expect(
      labels.filter((label, item) => label === "embedding" && onMainPath[item] === 1),
    ).toHaveLength(1);
    const at = boxes.map((item) => x[item]!);
    expect(Math.max(...at) - Math.min(...at)).toBeLessThan(1e-6);
  });

  test("have room for their title and padding", () => {
    const b = new ScopedBuilder();
    b.within("g", () => b.op("op"));
    const { graph } = b.nested(everything);
    const result = layoutNested(graph, { groupPaddingPx: 20, groupTitlePx: 30 });
    expect(result.y[1]! - result.height[1]! / 2).toBeGreaterThanOrEqual(30);
    expect(result.height[0]).toBeGreaterThanOrEqual(30 + 28 + 20);
    expect(result.width[0]).toBeGreaterThanOrEqual(40 + result.width[1]!);
  });

  test("may be empty", () => {
    const graph: NestedGraph = {
      itemCount: 1,
      parent: Int32Array.of(-1),
      open: Uint8Array.of(1),
      width: Float64Array.of(0),
      height: Float64Array.of(0),
      edgeSource: new Int32Array(0),
      edgeTarget: new Int32Array(0),
    };
    const { width, height } = layoutNested(graph);
    expect(width[0]).toBeGreaterThan(0);
    expect(height[0]).toBeGreaterThan(0);
  });

  test("may be 5,000 deep", () => {
    const depth = 5000;
    const graph: NestedGraph = {
      itemCount: depth,
      parent: Int32Array.from({ length: depth }, (_, i) => i - 1),
      open: Uint8Array.from({ length: depth }, (_, i) => (i < depth - 1 ? 1 : 0)),
      width: new Float64Array(depth).fill(50),
      height: new Float64Array(depth).fill(20),
      edgeSource: new Int32Array(0),
      edgeTarget: new Int32Array(0),
    };
    expect(layoutNested(graph).totalWidth).toBe(50 + 2 * 16 * (depth - 1));
  });
});

describe("the cache", () => {
  test("lays equal blocks out once, and changes nothing", () => {
    const { graph } = decoder(96).nested(everything);
    const cache: LayoutCache = new Map();
    const cached = layoutNested(graph, { cache });
    expect(cached).toEqual(layoutNested(graph));
    // Of 96 blocks with six groups each, plus the head: one layout for each kind and place in the data flow.
    expect(cache.size).toBeLessThan(16);
  });

  test("keeps all other groups when one is opened", () => {
    const model = decoder(8);
    const cache: LayoutCache = new Map();
    layoutNested(model.nested((s) => !s.startsWith("layers.3/")).graph, { cache });
    const before = cache.size;
    const { graph } = model.nested((s) => !s.startsWith("layers.3/") || s === "layers.3/mlp");
    const opened = layoutNested(graph, { cache });
    expect(cache.size - before).toBeLessThanOrEqual(2);
    expect(opened).toEqual(layoutNested(graph));
  });

  test("does not take a group of other sizes for an equal one", () => {
    const { graph } = decoder(2).nested(everything);
    const cache: LayoutCache = new Map();
    layoutNested(graph, { cache });
    const wider = { ...graph, width: graph.width.map((width) => width + 10) };
    expect(layoutNested(wider, { cache })).toEqual(layoutNested(wider));
  });
});
