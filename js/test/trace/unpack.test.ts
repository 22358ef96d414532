/// <reference types="node" />
import { readFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { Trace } from "../../src/trace/trace.ts";
import { unpack } from "../../src/trace/unpack.ts";
import { pack } from "../records/pack.ts";
import { SyntheticTrace } from "../records/synthetic.ts";
import { encoder } from "../records/synthetic_nets.ts";

const DAMAGED = "cut short or altered";

/** The parts of a payload that a test wants to damage, before they are compressed. */
function packed(body: Uint8Array): Uint8Array {
  return Buffer.concat([encoder(1).bytes().subarray(0, 12), deflateSync(body)]);
}

test("columns come back as they were, negative keys and 64-bit numbers included", async () => {
  const made = new SyntheticTrace();
  const given = made.tensor("[2, 3]");
  made.op("relu", { inputs: [given], hasGrad: false });
  made.gradNode("ReluGradNode", { op: 0 });
  const { tables, strings, origin } = await unpack(made.bytes());
  expect(Array.from(tables.tensors.columns.producer!)).toEqual([-1, 0]);
  expect(tables.grad_nodes.columns.address![0]).toBe(0x7f0000000000);
  expect(strings[tables.ops.columns.name![0]!]).toBe("relu");
  expect(origin.paddle).toBe("3.3.1");
});

test("what Python packed is read, with narrow and delta columns", async () => {
  const bytes = readFileSync(new URL("../fixtures/inplace.pdl", import.meta.url));
  const trace = new Trace(await unpack(bytes));
  const names = Array.from({ length: trace.opCount }, (_, op) => trace.opLabel(op));
  expect(names).toEqual(["full", "pow", "pow", "setitem", "pow", "add", "relu", "sum"]);
  expect(trace.gradNodesOfOp(3).length).toBe(1);
  expect(trace.gradNodeLabel(trace.gradNodesOfOp(3)[0]!)).toBe("SetValueGrad");
  const starts = Array.from(trace.table("ops").column("start_ns"));
  expect(starts).toEqual([...starts].sort((a, b) => a - b));
});

test("bytes of something else, and of another format, are refused by name", async () => {
  await expect(unpack(new TextEncoder().encode("<html></html>"))).rejects.toThrow(
    "not a paddle_lab",
  );
  const other = Uint8Array.from(encoder(1).bytes());
  for (const version of [0, 4, 99]) {
    other[8] = version;
    await expect(unpack(other)).rejects.toThrow(`in format ${version}, and this viewer reads only`);
  }
});

test("a payload cut anywhere is refused", async () => {
  const bytes = encoder(1).bytes();
  for (const length of [9, 12, 40, bytes.length >> 1, bytes.length - 1]) {
    await expect(unpack(bytes.subarray(0, length))).rejects.toThrow(DAMAGED);
  }
});

test("a flipped bit is noticed", async () => {
  const bytes = Uint8Array.from(encoder(1).bytes());
  bytes[bytes.length >> 1]! ^= 4;
  await expect(unpack(bytes)).rejects.toThrow(DAMAGED);
});

test("a header that announces more than there is allocates nothing", async () => {
  const header = JSON.stringify({
    strings: [""],
    origin: {},
    tables: { ops: { rows: 2e9, columns: { name: { dtype: "i8", delta: false } } } },
  });
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  await expect(unpack(packed(Buffer.concat([length, Buffer.from(header)])))).rejects.toThrow(
    DAMAGED,
  );
});

test.each([
  ["a key past its table", "uses", "tensor", 1e6],
  ["a key below none", "uses", "op", -2],
  ["a string code past the strings", "ops", "name", 1e6],
  ["a value outside its enumeration", "ops", "phase", 7],
  ["a group inside itself", "groups", "parent", 0],
] as const)("%s is refused", async (_, table, column, value) => {
  const made = encoder(1);
  made.tables[table][column]![0] = value;
  await expect(unpack(made.bytes())).rejects.toThrow(DAMAGED);
});

test("a table of another length than the one beside it is refused", async () => {
  const made = encoder(1);
  made.tables.op_groups.group!.pop();
  await expect(unpack(made.bytes())).rejects.toThrow(DAMAGED);
});

test("tables this viewer does not know are skipped, tables it misses are empty", async () => {
  const { strings, origin, tables } = encoder(1);
  const { steps: _, ...rest } = tables;
  const bytes = pack(strings, origin, { later: { anything: [1, 2, 3] }, ...rest });
  const read = await unpack(bytes);
  expect(read.tables.steps.length).toBe(0);
  expect(read.tables.ops.length).toBe(tables.ops.name!.length);
});
