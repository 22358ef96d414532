import { expect, test } from "vitest";
import { TimeWindow } from "../../../src/live/figure/time_window.ts";

test("it follows the newest, and shows little of the time before the first sample", () => {
  const shown = new TimeWindow();
  expect(shown.at(2_000, 1_000)).toEqual({ start_ms: -8_000, end_ms: 2_000 });
  expect(shown.at(90_000, 0)).toEqual({ start_ms: 60_000, end_ms: 90_000 });
  shown.followFor(Number.POSITIVE_INFINITY);
  expect(shown.at(90_000, 5_000)).toEqual({ start_ms: 5_000, end_ms: 90_000 });
});

test("what the user moved stands still until it follows again", () => {
  const shown = new TimeWindow();
  shown.look({ start_ms: 10, end_ms: 20 });
  expect(shown.is_following).toBe(false);
  expect(shown.at(90_000, 0)).toEqual({ start_ms: 10, end_ms: 20 });
  shown.follow();
  expect(shown.is_following).toBe(true);
  expect(shown.at(90_000, 0)).toEqual({ start_ms: 60_000, end_ms: 90_000 });
});

test("keys move and zoom what is shown", () => {
  const shown = new TimeWindow();
  // Ten seconds are shown of a chart that has just begun.
  shown.move(-0.5, 1, shown.at(2_000, 1_000));
  expect(shown.at(90_000, 0)).toEqual({ start_ms: -13_000, end_ms: -3_000 });
  shown.move(0, 0.5, shown.at(90_000, 0));
  expect(shown.at(90_000, 0)).toEqual({ start_ms: -10_500, end_ms: -5_500 });
});
