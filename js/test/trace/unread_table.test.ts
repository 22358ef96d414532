/** Allocations of a large trace are read when they are asked for, and are what they were. */
import { expect, test } from "vitest";
import { type ColumnName, TABLES } from "../../src/trace/protocol.ts";
import { Trace } from "../../src/trace/trace.ts";
import { unpack } from "../../src/trace/unpack.ts";
import { MemoryWriter } from "../records/made_memory.ts";
import { SyntheticTrace } from "../records/synthetic.ts";

/** As of which a table is large. */
const MANY = 50_000;
/** As of which a table is read when it is asked for. */
const FEW = 1000;
const PATIENCE = { timeout: 60_000 };

function made(count: number): SyntheticTrace {
  const trace = new SyntheticTrace();
  const writer = new MemoryWriter(trace);
  for (let row = 0; row < count; row++) {
    writer.block(row * 1000, row % 3 ? row * 1000 + 700 : -1, 2 ** (row % 40), {
      kind: row % 2 ? "gradient" : "temporary",
    });
  }
  return trace;
}

test("columns of many allocations are read one by one, as they were", PATIENCE, async () => {
  const written = made(MANY);
  const trace = new Trace(await unpack(written.bytes()));
  for (const name of Object.keys(TABLES.allocations) as ColumnName<"allocations">[]) {
    const column = trace.table("allocations").column(name);
    expect(String(column)).toBe(String(written.tables.allocations[name]));
    expect(trace.table("allocations").column(name)).toBe(column);
  }
});

test("what points nowhere is refused when it is read", PATIENCE, async () => {
  const written = made(MANY);
  written.tables.allocations.op![MANY - 1] = 3;
  const table = new Trace(await unpack(written.bytes())).table("allocations");
  expect(table.column("kind")[1]).toBe(4);
  expect(() => table.column("op")).toThrow("cut short or altered");
});

test("what nobody asks for is read in the end, and refused if it points nowhere", async () => {
  const written = made(FEW);
  const trace = new Trace(await unpack(written.bytes()));
  expect(() => [...trace.readRest()]).not.toThrow();
  expect(String(trace.table("allocations").column("op"))).toBe(
    String(written.tables.allocations.op),
  );
  written.tables.allocations.op![FEW - 1] = 3;
  const altered = new Trace(await unpack(written.bytes()));
  expect(() => [...altered.readRest()]).toThrow("cut short or altered");
});

test("a key that points at a later row is refused when it is read", async () => {
  const written = new SyntheticTrace();
  const frame = written.frame("a.py", 1);
  for (let row = 0; row < FEW; row++) {
    written.stack(frame, row - 1);
  }
  const caller = async () =>
    new Trace(await unpack(written.bytes())).table("stacks").column("caller");
  expect((await caller())[FEW - 1]).toBe(FEW - 2);
  written.tables.stacks.caller![7] = 8;
  await expect(caller()).rejects.toThrow("cut short or altered");
});
