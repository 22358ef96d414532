/** Long graphs without groups are laid out in sections, equal sections once. */

import { describe, expect, test } from "vitest";
import { cutIntoSections } from "../../src/layout/layered/components.ts";
import { attention, Builder } from "./graphs/corpus.ts";
import { boxesOf, type LayoutGraph, layoutGraph } from "./graphs/flat_graph.ts";

/** Blocks `y = add(a, b)`: `a` is computed from `y` above, `b` from nothing. Nothing reads `print(y)`. */
function blocks(count: number): { graph: LayoutGraph; sums: number[]; asides: number[] } {
  const b = new Builder();
  const [sums, asides]: [number[], number[]] = [[b.op("input")], []];
  for (let block = 0; block < count; block++) {
    const a = b.chain(sums.at(-1)!, "norm", "linear");
    asides.push(b.op("scale", b.op("full")));
    sums.push(b.op("add", a, asides.at(-1)!));
    asides.push(b.op("print", sums.at(-1)!));
  }
  const graph = b.graph();
  const isAside = (v: number): boolean => ["full", "scale", "print"].includes(b.names[v]!);
  const edgeWeight = graph.edgeSource.map((from, e) =>
    isAside(from) || isAside(graph.edgeTarget[e]!) ? 10 : 1,
  );
  return { graph: { ...graph, edgeWeight: Float64Array.from(edgeWeight) }, sums, asides };
}

describe("a long graph", () => {
  test("is cut where a single box has everything above it above, and nothing passes it", () => {
    const { graph, sums } = blocks(100);
    const sections = cutIntoSections(boxesOf(graph));
    expect(sections.length).toBeGreaterThan(8);
    sections.forEach(({ top, nodes, edges }, s) => {
      if (s > 0) expect(sums).toContain(top);
      for (const e of edges) {
        expect(nodes).toContain(graph.edgeSource[e]!);
        expect(nodes).toContain(graph.edgeTarget[e]!);
      }
    });
    const all = sections.flatMap(({ edges }) => edges);
    expect(all.sort((a, b) => a - b)).toEqual([...graph.edgeSource.keys()]);
  });

  test("is not cut where an edge passes, such as that of a mask which all blocks read", () => {
    // The last block's end is below the last edge of the mask.
    expect(cutIntoSections(boxesOf(attention(2000, true).graph()))).toHaveLength(2);
  });

  test("is not cut if it has a cycle: in a section, another edge might be the feedback", () => {
    const b = new Builder();
    const first = b.chain(b.op("input"), ...new Array(20).fill("scale"));
    const aside = b.op("full");
    const sum = b.chain(first, ...new Array(20).fill("scale"));
    const last = b.chain(sum, "linear", "relu");
    b.edge(aside, last);
    b.edge(last, sum);
    b.chain(last, ...new Array(40).fill("scale"));
    const graph = b.graph();
    const { y } = layoutGraph(graph);
    expect(y[last]).toBeGreaterThan(y[sum]!);
    expect(cutIntoSections(boxesOf(graph))).toHaveLength(1);
  });

  test("shows equal blocks alike", () => {
    const { graph, sums } = blocks(100);
    const { x, y } = layoutGraph(graph);
    const shape = (block: number): number[] => {
      const [first, next] = [sums[block]!, sums[block + 1]!];
      return Array.from({ length: next - first }, (_, i) => [
        x[first + i]! - x[first]!,
        y[first + i]! - y[first]!,
      ]).flat();
    };
    for (let block = 2; block < 100; block++) {
      shape(block).forEach((at, i) => {
        expect(at).toBeCloseTo(shape(1)[i]!);
      });
    }
  });

  test("has one main path through all sections, although other paths in them are heavier", () => {
    const { graph, sums, asides } = blocks(100);
    const { x, onMainPath } = layoutGraph(graph);
    expect(new Set(sums.slice(1).map((v) => x[v]))).toHaveProperty("size", 1);
    expect(asides.filter((v) => onMainPath[v])).toEqual([asides[0], asides.at(-1)]);
  });
});
