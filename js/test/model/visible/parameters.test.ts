import { expect, test } from "vitest";
import { givenTensors } from "../../../src/model/visible/parameters.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";

/** Two training steps of one linear op: the second reads the weight that the first's optimizer wrote. */
function twoSteps(): SyntheticTrace {
  const made = new SyntheticTrace();
  const data = made.tensor("[2, 4]", { kind: "external" });
  const weight = made.tensor("[4, 4]", { kind: "parameter", path: "fc.weight" });
  made.op("linear", { inputs: [data, weight] });
  const step = made.op("sgd_", { inputs: [weight], phase: "optimizer", outputs: 0 });
  const written = made.tensor("[4, 4]", {
    kind: "parameter",
    path: "fc.weight",
    producer: step.op,
  });
  const second = made.op("linear", { inputs: [data, written] });
  made.op("relu", { inputs: second.out });
  return made;
}

test("a parameter that an optimizer has changed is still one of its reader's", async () => {
  const trace = await twoSteps().trace();
  expect([0, 2].map((op) => givenTensors(trace, op))).toEqual([
    [0, 1],
    [0, 3],
  ]);
  expect(givenTensors(trace, 3)).toEqual([]);
});
