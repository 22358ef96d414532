import { expect, test } from "vitest";
import { busiestDevice } from "../../../src/live/counters/lines.ts";
import type { Counter } from "../../../src/live/counters/messages.ts";

const allocated = (device: string, absence = ""): Counter => ({
  name: "allocated",
  device,
  source: "paddle",
  unit: "bytes",
  limit: 0,
  absence,
});

test("the busiest device is the accelerator that has most, and the CPU where none is in use", () => {
  const counters = [allocated("cpu"), allocated("gpu:0"), allocated("gpu:1")];
  expect(busiestDevice(counters, [900, 10, 20])).toBe("gpu:1");
  expect(busiestDevice(counters, [900, 0, 0])).toBe("cpu");
  expect(busiestDevice(counters, [Number.NaN, Number.NaN, Number.NaN])).toBe("cpu");
  expect(busiestDevice([allocated("cpu", "not counted")], [Number.NaN])).toBe("");
});
