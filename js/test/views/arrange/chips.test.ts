import { expect, test } from "vitest";
import { ChipWriter } from "../../../src/views/arrange/chips.ts";
import type { TextMeasure } from "../../../src/views/scene/measure.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";

const MEASURE = { width: (text: string) => 7 * text.length } as unknown as TextMeasure;

test("chips of one op are told apart", async () => {
  const made = new SyntheticTrace();
  const names = ["weight_ih_l0", "bias_hh_l1_reverse", "weight_hh", "running_average"];
  const tensors = names.map((name) =>
    made.tensor("[4]", { kind: "parameter", path: `lstm.${name}` }),
  );
  const chips = new ChipWriter(await made.trace(), MEASURE).given(tensors, 120);
  expect(chips.map(({ label }) => label).reverse()).toEqual(["W ih0", "b hh1′", "W hh", "runnin…"]);
});

test("a constant of a static program shows its value, another tensor shows what it is", async () => {
  const made = new SyntheticTrace();
  const tensors = ["[2, 8]", "-1.5", "generated_tensor_7"].map((name) =>
    made.tensor("[]", { kind: "external", name }),
  );
  const chips = new ChipWriter(await made.trace(), MEASURE).given(tensors, 120);
  expect(chips.map(({ label }) => label).reverse()).toEqual(["[2, 8]", "-1.5", "data"]);
});
