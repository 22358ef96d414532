import { describe, expect, it } from "vitest";
import { stripData } from "../../../src/live/figure/strip.ts";

const THEME = { lit: "cell", line: "layer" };

describe("stripData", () => {
  it("names at the window's edge a cell that began before it", () => {
    const window = { start_ms: 60_000, end_ms: 90_000, px_per_ms: 0.02 };
    const data = stripData([[1_000, null, "[4]"]], [], window, THEME);
    expect(data.label).toEqual(["[4]"]);
    expect(data.label_left).toEqual([60_000]);
    expect(data.left).toEqual([1_000]);
  });

  it("leaves a name out where what is seen of its span has no room for it", () => {
    const window = { start_ms: 60_000, end_ms: 90_000, px_per_ms: 0.02 };
    const data = stripData([[1_000, 60_500, "[4]"]], [], window, THEME);
    expect(data.label).toEqual([""]);
  });
});
