import { describe, expect, it } from "vitest";
import { clockTicks } from "../../../src/live/figure/clock.ts";

const NOON_MS = Date.UTC(2026, 0, 31, 12, 0, 0);

function labels(start_ms: number, end_ms: number, most: number): string[] {
  return clockTicks({ start_ms, end_ms }, NOON_MS, most).map(([, label]) => label);
}

describe("clockTicks", () => {
  it("names seconds in a short window, and minutes or hours in a long one", () => {
    expect(labels(1_000, 31_000, 6)).toEqual(
      [5, 10, 15, 20, 25, 30].map((s) => `12:00:${`${s}`.padStart(2, "0")}`),
    );
    expect(labels(0, 3_600_000, 4)).toEqual(["12:00", "12:15", "12:30", "12:45", "13:00"]);
    expect(labels(0, 12 * 3_600_000, 4)).toEqual(["12:00", "16:00", "20:00", "00:00"]);
  });

  it("tells tenths of a second apart, and days", () => {
    expect(labels(0, 600, 6)).toEqual([
      "12:00:00.0",
      "12:00:00.1",
      "12:00:00.2",
      "12:00:00.3",
      "12:00:00.4",
      "12:00:00.5",
      "12:00:00.6",
    ]);
    expect(labels(0, 3 * 86_400_000, 3)).toEqual(["02-01", "02-02", "02-03"]);
  });

  it("places round local times, whenever the sampler began", () => {
    expect(clockTicks({ start_ms: 0, end_ms: 20_000 }, NOON_MS + 2_500, 3)).toEqual([
      [7_500, "12:00:10"],
      [17_500, "12:00:20"],
    ]);
  });
});
