import { expect, test } from "vitest";
import { Spans } from "../../../src/live/counters/received.ts";

test("a span that ran is told again when it has ended", () => {
  const spans = new Spans();
  spans.append([[0, null, "[1]"]]);
  expect(spans.running).toBe("[1]");

  spans.append([
    [0, 50, "[1]"],
    [60, null, "[2]"],
  ]);

  expect(spans.between(0, 100)).toEqual([
    [0, 50, "[1]"],
    [60, null, "[2]"],
  ]);
  expect(spans.at(10)).toBe("[1]");
  expect(spans.at(55)).toBe("");
  expect(spans.at(1000)).toBe("[2]");
  expect(spans.between(51, 59)).toEqual([]);
});

test("a history again changes nothing", () => {
  const spans = new Spans();
  const all = [
    [0, 50, "a"],
    [50, 80, "b"],
  ] as const;
  spans.append(all);
  spans.append(all);

  expect(spans.between(0, 100)).toEqual(all);
});
