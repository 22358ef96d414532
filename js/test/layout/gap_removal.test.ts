import { expect, test } from "vitest";
import { GapRemoval } from "../../src/layout/index.ts";

test("what stands keeps its width and its order, and what is empty becomes narrow", () => {
  const gapRemoval = new GapRemoval([
    { from: 50, to: 100 },
    { from: 90, to: 130 },
    { from: 400, to: 450 },
    { from: 455, to: 460 },
  ]);
  expect([50, 100, 130].map((x) => gapRemoval.at(x))).toEqual([0, 50, 80]);
  expect([400, 450, 455, 460].map((x) => gapRemoval.at(x))).toEqual([100, 150, 155, 160]);
  expect(gapRemoval.at(265)).toBeCloseTo(90);
  expect(gapRemoval.width).toBe(160);
  // Left and right of all there is nothing to take out.
  expect(gapRemoval.at(40)).toBe(-10);
  expect(gapRemoval.at(470)).toBe(170);
});

test("what lies in a frame comes up to its edges", () => {
  const gapRemoval = new GapRemoval([
    { from: 0, to: 18, edge: "left" },
    { from: 200, to: 300 },
    { from: 482, to: 500, edge: "right" },
  ]);
  expect([200, 300, 482].map((x) => gapRemoval.at(x))).toEqual([18, 118, 118]);
  expect(gapRemoval.width).toBe(136);
});

test("the same order as before, whatever the spans", () => {
  let seed = 7;
  const random = (most: number): number => {
    seed = (seed * 48271) % 2147483647;
    return seed % most;
  };
  for (let turn = 0; turn < 200; turn++) {
    const spans = Array.from({ length: 1 + random(12) }, () => {
      const from = random(2000);
      const edge = ([undefined, "left", "right"] as const)[random(3)];
      return { from, to: from + random(150), ...(edge ? { edge } : {}) };
    });
    const gapRemoval = new GapRemoval(spans);
    for (const { from, to } of spans) {
      expect(gapRemoval.at(to) - gapRemoval.at(from)).toBeCloseTo(to - from);
    }
    for (let x = -10; x < 2200; x += 7) {
      expect(gapRemoval.at(x + 7)).toBeGreaterThanOrEqual(gapRemoval.at(x) - 1e-9);
    }
  }
});
