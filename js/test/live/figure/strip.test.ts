import { describe, expect, it } from "vitest";
import { spanIn } from "../../../src/live/figure/strip.ts";

const FRAME = { left_px: 64, right_px: 664, x: (time_ms: number) => 64 + (time_ms - 60_000) / 50 };

describe("spanIn", () => {
  it("names at the window's edge a cell that began before it and still runs", () => {
    expect(spanIn(FRAME, [1_000, 95_000, "[4]"])).toEqual({ left_px: 64, right_px: 664 });
  });

  it("keeps the ends that are in the window", () => {
    expect(spanIn(FRAME, [61_000, 70_000, "[4]"])).toEqual({ left_px: 84, right_px: 264 });
  });
});
