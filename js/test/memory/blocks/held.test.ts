import { describe, expect, test } from "vitest";
import { blocksByPlace } from "../../../src/memory/blocks/blocks.ts";
import { type HeldAtEnd, heldAtEnd } from "../../../src/memory/blocks/held.ts";
import { HOLDER_KINDS } from "../../../src/trace/protocol.ts";
import { MemoryWriter } from "../../records/made_memory.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";

/** Blocks of these sizes that stayed, and names with the blocks they hold. */
async function held(sizes: number[], names: [string, ...number[]][]): Promise<HeldAtEnd> {
  const made = new SyntheticTrace();
  const writer = new MemoryWriter(made);
  const blocks = sizes.map((size) => writer.block(10, -1, size));
  writer.block(20, 30, 5000);
  const kind = HOLDER_KINDS.indexOf("container");
  for (const [name, ...own] of names) {
    for (const block of own) {
      made.add("holders", { allocation: blocks[block]!, kind, name: made.text(name) });
    }
  }
  const trace = await made.trace();
  return heldAtEnd(trace, blocksByPlace(trace)[0]!);
}

describe("what outlived the trace", () => {
  test("names that hold the same blocks are one row", async () => {
    const { holders, alive_bytes, isShared } = await held(
      [100, 70, 8],
      [
        ["net.weight", 0],
        ["adam._parameter_list[0]", 0],
        ["ema[0]", 0],
        ["cache", 0, 1],
      ],
    );
    expect(holders.map(({ name, others, bytes }) => [name, others, bytes])).toEqual([
      ["cache", [], 170],
      ["net.weight", ["adam._parameter_list[0]", "ema[0]"], 100],
    ]);
    expect(alive_bytes).toBe(178);
    expect(isShared).toBe(true);
  });

  test("what nobody holds is apart", async () => {
    const { holders, unheld, hasHolders, isShared } = await held([100, 70], [["x", 1]]);
    expect(holders.map(({ name }) => name)).toEqual(["x"]);
    expect([unheld.bytes, unheld.name, hasHolders]).toEqual([100, "", true]);
    expect(isShared).toBe(false);
  });

  test("what was there before and never used is told apart", async () => {
    const made = new SyntheticTrace();
    new MemoryWriter(made).block(10, -1, 100);
    made.add("memory_totals", { time_ns: 0, place: made.text("cpu"), allocated_bytes: 4000 });
    const trace = await made.trace();
    const { alive_bytes, earlier_bytes } = heldAtEnd(trace, blocksByPlace(trace)[0]!);
    expect([alive_bytes, earlier_bytes]).toEqual([100, 4000]);
  });
});
