import { expect, test } from "vitest";
import { contrast, dtypeColour, inkOn, rampColour } from "../../../src/views/colour/ramp.ts";

const GROUNDS = ["#ffffff", "#14171e"];
const DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "bool", "uint8"];

test("words on every colour have a contrast of at least 4.5", () => {
  for (const ground of GROUNDS) {
    for (let share = 0; share <= 1; share += 0.01) {
      const colour = rampColour(share, ground);
      expect(contrast(colour, inkOn(colour))).toBeGreaterThanOrEqual(4.5);
    }
  }
  for (const dtype of DTYPES) {
    expect(contrast(dtypeColour(dtype), inkOn(dtypeColour(dtype)))).toBeGreaterThanOrEqual(4.5);
  }
});

test("much stands out from the ground, and lightness never turns back", () => {
  for (const ground of GROUNDS) {
    const away = Array.from({ length: 21 }, (_, at) =>
      contrast(rampColour(at / 20, ground), ground),
    );
    expect(away).toEqual(away.toSorted((a, b) => a - b));
  }
});

test("the contrast is that of WCAG", () => {
  expect(contrast("#000000", "#ffffff")).toBeCloseTo(21);
  expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
});
