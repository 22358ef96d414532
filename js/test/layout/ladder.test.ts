import { expect, test } from "vitest";
import { gradientPaths, layoutNested } from "../../src/layout/index.ts";
import { ScopedBuilder } from "./graphs/nested_corpus.ts";

/** x -> a -> (b -> c) -> d with a skip from a to d; gradients reach all but x, and c also gives one to a directly. */
function model() {
  const b = new ScopedBuilder();
  const x = b.op("x");
  const a = b.op("a", x);
  const [inner, c] = b.within("g", () => {
    const first = b.op("b", a);
    return [first, b.op("c", first)] as const;
  });
  b.op("d", c, a);
  expect(inner).toBe(2);
  const { graph, labels } = b.nested(() => true);
  return { graph, item: (label: string) => labels.indexOf(label) };
}

test("gradients run up the mirrored forward edges, and others on lanes", () => {
  const { graph, item } = model();
  const forward = layoutNested(graph);
  const pairs = [
    ["d", "c"],
    ["d", "a"],
    ["c", "b"],
    ["b", "a"],
    ["c", "a"], // no forward edge a -> c
  ] as const;
  const ladder = gradientPaths(
    forward,
    { source: graph.edgeSource, target: graph.edgeTarget },
    { source: pairs.map(([from]) => item(from)), target: pairs.map(([, to]) => item(to)) },
  );

  pairs.forEach(([from, to], e) => {
    const first = ladder.edgeStart[e]!;
    const last = ladder.edgeStart[e + 1]! - 1;
    const top = forward.y[item(from)]! - forward.height[item(from)]! / 2;
    const bottom = forward.y[item(to)]! + forward.height[item(to)]! / 2;
    expect(ladder.pathY[first]).toBeCloseTo(top);
    expect(ladder.pathY[last]).toBeCloseTo(bottom);
    const halfWidth = forward.width[item(from)]! / 2;
    expect(Math.abs(ladder.pathX[first]! - forward.x[item(from)]!)).toBeLessThan(halfWidth);
  });
  expect([...ladder.edgeKind]).toEqual([0, 0, 0, 0, 1]);
  expect(Math.max(...ladder.pathX)).toBeGreaterThan(forward.totalWidth);
});
