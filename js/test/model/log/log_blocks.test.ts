/** Entries of Paddle's log, in blocks by their op or grad node. */

import { expect, test } from "vitest";
import { logBlocks } from "../../../src/model/log/log_blocks.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";

async function made() {
  const synthetic = new SyntheticTrace();
  const { op: matmul } = synthetic.op("matmul");
  const { op: relu } = synthetic.op("relu");
  const node = synthetic.gradNode("MatmulGradNode", { op: matmul });
  const entries: [number, number, string][] = [
    [matmul, -1, "Running"],
    [matmul, -1, "Finish"],
    [relu, -1, "Running"],
    [-1, -1, "Run in Backward"],
    [-1, node, "Preparing"],
  ];
  for (const [op, grad_node, text] of entries) {
    synthetic.add("log", { op, grad_node, text: synthetic.text(text) });
  }
  return { trace: await synthetic.trace(), matmul, relu, node };
}

test("entries of one op are one block, and others stand in their place", async () => {
  const { trace, matmul, relu, node } = await made();
  expect(logBlocks(trace, undefined, "")).toEqual([
    { op: matmul, gradNode: -1, entries: [0, 1] },
    { op: relu, gradNode: -1, entries: [2] },
    { op: -1, gradNode: -1, entries: [3] },
    { op: -1, gradNode: node, entries: [4] },
  ]);
});

test("an op has its own entries and those of its grad nodes", async () => {
  const { trace, matmul, node } = await made();
  const entries = (blocks: ReturnType<typeof logBlocks>) => blocks.flatMap((one) => one.entries);
  expect(entries(logBlocks(trace, { kind: "op", op: matmul }, ""))).toEqual([0, 1, 4]);
  expect(entries(logBlocks(trace, { kind: "grad_node", gradNode: node }, ""))).toEqual([4]);
});

test.each([
  ["running", [0, 2]],
  ["matmul", [0, 1, 4]],
  ["gradnode", [4]],
  ["RELU", [2]],
  ["nothing", []],
])("a search for %s", async (query, found) => {
  const { trace } = await made();
  expect(logBlocks(trace, undefined, query).flatMap((one) => one.entries)).toEqual(found);
});
