import { expect, test } from "vitest";
import { gradientsOverDepth } from "../../../src/model/gradients/gradient_depth.ts";
import { histogramOf } from "../../../src/model/gradients/histogram.ts";
import { Store } from "../../../src/model/state/store.ts";
import { bits, withGradients } from "../../records/planted.ts";
import { encoder } from "../../records/synthetic_nets.ts";

test("norms of edges that share a line are summed as one vector's", async () => {
  const made = encoder(1);
  for (const [edge, norm] of [
    [0, 3],
    [1, 4],
  ] as const) {
    made.add("grad_stats", { backward_call: 0, grad_edge: edge, elements: 1, norm: bits(norm) });
  }
  const { gradients } = new Store(await made.trace());
  expect(gradients.normOf([0, 1], 0)).toEqual({ norm: 5, nans: 0, infs: 0 });
  expect(gradients.normOf([2], 0)).toBeUndefined();
  expect(gradients.range(0)).toEqual({ least: 0, most: 0 });
});

test("of a graph that ran twice, the run of the call in view is shown, the last of it", async () => {
  const made = encoder(1);
  const row = (backward_call: number, norm: number): number =>
    made.add("grad_stats", { backward_call, grad_edge: 0, elements: 1, norm: bits(norm) });
  made.backward(made.roots[0]!);
  const [first, second] = [row(0, 1), row(0, 2)];
  const other = row(1, 8);
  const { gradients } = new Store(await made.trace());
  expect([...gradients.ofEdge(0)]).toEqual([first, second, other]);
  expect(gradients.ofEdgeIn(0, 0)).toBe(second);
  expect(gradients.ofEdgeIn(0, 1)).toBe(other);
  const edges = [0];
  expect(gradients.normOf(edges, 0)?.norm).toBe(2);
  expect(gradients.normOf(edges, 1)?.norm).toBe(8);
});

test("a histogram has a place for every power of two between its ends", async () => {
  const made = encoder(1);
  const stat = made.add("grad_stats", { backward_call: 0, grad_edge: 0, elements: 9 });
  made.add("grad_histograms", { grad_stat: stat, exponent: -4, is_negative: 1, count: 2 });
  made.add("grad_histograms", { grad_stat: stat, exponent: -2, is_negative: 0, count: 7 });
  expect(histogramOf(await made.trace(), "grad", stat)).toEqual([
    { exponent: -4, negative: 2, positive: 0 },
    { exponent: -3, negative: 0, positive: 0 },
    { exponent: -2, negative: 0, positive: 7 },
  ]);
});

test("over depth, layers come in the order of the forward, and vanish towards the first", async () => {
  const { trace, hierarchy, gradients } = new Store(await withGradients(encoder(4), 0.1).trace());
  const points = gradientsOverDepth(trace, hierarchy, gradients, 0);
  expect(points.map(({ label }) => label)).toEqual([
    "embed",
    ...[0, 1, 2, 3].flatMap((block) => [
      `blocks.${block}.fc1`,
      `blocks.${block}`,
      `blocks.${block}.fc2`,
    ]),
    "head",
    "mean #18",
  ]);
  const fc1 = points
    .filter(({ label }) => label.endsWith("fc1"))
    .map(({ parameters }) => parameters);
  expect(fc1).toEqual([...fc1].sort((a, b) => a - b));
  expect(fc1[0]! / fc1[3]!).toBeLessThan(1e-3);
});

test("a layer through which NaN flows is broken", async () => {
  const made = withGradients(encoder(1));
  made.tables.grad_stats.nans!.fill(1);
  const { trace, hierarchy, gradients } = new Store(await made.trace());
  expect(gradientsOverDepth(trace, hierarchy, gradients, 0).every((at) => at.isBroken)).toBe(true);
});
