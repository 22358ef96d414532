/** The ops as a table for spreadsheets, and the slowest of them. */

import { expect, test } from "vitest";
import { slowestOps } from "../../../src/views/details/slowest.ts";
import { opTable } from "../../../src/views/export/export_ops.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";

test("a row says what its op did, in columns named as pandas has them", async () => {
  const synthetic = new SyntheticTrace();
  const { out } = synthetic.op("matmul");
  const { op } = synthetic.op("softmax", { inputs: out });
  synthetic.tables.ops.attributes![op] = synthetic.text("axis=-1");
  const trace = await synthetic.trace();
  const [names, ...rows] = opTable(trace, [op, 0]);
  expect(rows.map((row) => row[0])).toEqual([op, 0]);
  const softmax = Object.fromEntries(names!.map((name, at) => [name, rows[0]![at]]));
  expect(softmax).toMatchObject({
    op,
    name: "softmax",
    phase: "forward",
    inputs: "float32 [4, 16]",
    outputs: "float32 [4, 16]",
    attributes: "axis=-1",
    duration_ns: 900,
    is_pylayer: "False",
    line: "",
  });
  expect(names).not.toContain("stands_for");
});

test("in a reduced copy it says how many ops a row stands for", async () => {
  const synthetic = new SyntheticTrace();
  const [first, second] = [synthetic.op("relu").op, synthetic.op("relu").op];
  synthetic.add("stand_ins", { op: first, grad_node: -1, count: 40, leaves: 0 });
  const trace = await synthetic.trace();
  const [names, ...rows] = opTable(trace, [first, second]);
  expect(names!.at(-1)).toBe("stands_for");
  expect(rows.map((row) => row.at(-1))).toEqual([40, 1]);
  // What stands for many is no slow op.
  expect(slowestOps(trace, 5)).toEqual([second]);
});

test("the slowest come first, of equal ones the earlier", async () => {
  const synthetic = new SyntheticTrace();
  const times = [5, 70, 9, 70, 0, 8, 100];
  for (const [op, time] of times.entries()) {
    synthetic.op("relu");
    synthetic.tables.ops.duration_ns![op] = time;
  }
  const trace = await synthetic.trace();
  expect(slowestOps(trace, 4)).toEqual([6, 1, 3, 2]);
  expect(slowestOps(trace, 10)).toEqual([6, 1, 3, 2, 5, 0]);
});
