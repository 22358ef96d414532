/** Attributes of ops: where one ends, and which are as nobody gave them. */

import { expect, test } from "vitest";
import { attributesOf, splitAttributes } from "../../../src/views/details/op.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";

test.each([
  ["", []],
  ["1, False", ["1", "False"]],
  [
    "strides=[2, 2], mode='a, [b', place=Place(gpu:0, 1)",
    ["strides=[2, 2]", "mode='a, [b'", "place=Place(gpu:0, 1)"],
  ],
  ["text='it\\'s, so', more=\"'\", last=1", ["text='it\\'s, so'", 'more="\'"', "last=1"]],
  // What was too long is cut anywhere.
  ["shape=[1, 2, 3…", ["shape=[1, 2, 3…"]],
])("%s", (text, parts) => {
  expect(splitAttributes(text)).toEqual(parts);
});

test("what is as by default is told", async () => {
  const synthetic = new SyntheticTrace();
  const { op } = synthetic.op("conv2d");
  const { op: other } = synthetic.op("softmax");
  const text = "strides=[2, 2], groups=1.0, axis=None, out=None, 'NCHW'";
  for (const one of [op, other]) synthetic.tables.ops.attributes![one] = synthetic.text(text);
  for (const [name, value] of Object.entries({
    strides: "[1, 1]",
    groups: "1",
    axis: "[]",
    out: "None",
  })) {
    synthetic.add("attribute_defaults", {
      op: synthetic.text("conv2d"),
      name: synthetic.text(name),
      value: synthetic.text(value),
    });
  }
  const trace = await synthetic.trace();
  const told = (one: number) =>
    attributesOf(trace, one).map(({ text, isDefault }) => [text, isDefault]);
  expect(told(op)).toEqual([
    ["strides=[2, 2]", false],
    ["groups=1.0", true],
    ["axis=None", true],
    ["out=None", true],
    ["'NCHW'", false],
  ]);
  expect(told(other).every(([, isDefault]) => !isDefault)).toBe(true);
});
