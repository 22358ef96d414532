import { describe, expect, test } from "vitest";
import { blocksByPlace } from "../../../src/memory/blocks/blocks.ts";
import { heldAtEnd } from "../../../src/memory/blocks/held.ts";
import { reservedSteps } from "../../../src/memory/blocks/marks.ts";
import { phaseSpans } from "../../../src/memory/blocks/phases.ts";
import { mapBlocks } from "../../../src/memory/map/block_map.ts";
import { hitAt } from "../../../src/memory/stack/hit.ts";
import { stackBlocks } from "../../../src/memory/stack/stacking.ts";
import { numberOrder } from "../../../src/trace/number_order.ts";
import { HOLDER_KINDS } from "../../../src/trace/protocol.ts";
import { MemoryWriter, randomNumbers } from "../../records/made_memory.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";

function made(): { trace: SyntheticTrace; writer: MemoryWriter } {
  const trace = new SyntheticTrace();
  trace.origin.duration_ns = 100;
  return { trace, writer: new MemoryWriter(trace) };
}

describe("the block map", () => {
  const KB = 1024;

  test("breaks the address space into rows, with what is free in between", async () => {
    const { trace, writer } = made();
    writer.block(0, -1, 4 * KB, { address: 0x10000 });
    writer.block(0, -1, 2 * KB, { address: 0x10000 + 6 * KB });
    writer.block(0, -1, 4 * KB, { address: 0x90000000 });
    const read = await trace.trace();
    const blocks = blocksByPlace(read)[0]!;
    const map = mapBlocks(read, blocks, 50, { width_px: 100, kept_bytes: 2 * KB, rowCount: 2 });
    expect(map).toMatchObject({
      row_bytes: 6 * KB,
      rowCount: 2,
      used_bytes: 10 * KB,
      free_bytes: 2 * KB,
      largestFree_bytes: 2 * KB,
      regionCount: 2,
    });
    expect([...map.blocks]).toEqual([0, -1, 1, 2]);
    expect([...map.rows]).toEqual([0, 0, 1, 1]);
    expect([...map.from_bytes].map((at) => at / KB)).toEqual([0, 4, 0, 2]);
    expect([...map.to_bytes].map((at) => at / KB)).toEqual([4, 6, 2, 6]);
  });

  test("takes a gap that the allocator cannot hold for another region", async () => {
    const { trace, writer } = made();
    writer.block(0, -1, 4 * KB, { address: 0x10000 });
    writer.block(0, -1, 2 * KB, { address: 0x10000 + 6 * KB });
    const read = await trace.trace();
    const map = mapBlocks(read, blocksByPlace(read)[0]!, 50, { width_px: 100, kept_bytes: KB });
    expect(map).toMatchObject({ free_bytes: 0, regionCount: 2 });
  });
});

describe("marks along the timeline", () => {
  test("phases that last are told, in the window alone", async () => {
    const { trace, writer } = made();
    for (const [start, phase] of [
      [0, "forward"],
      [20, "forward"],
      [40, "backward"],
      [70, "optimizer"],
      [72, "forward"],
    ] as const) {
      writer.block(start, -1, 1, { phase });
    }
    const read = await trace.trace();
    const blocks = blocksByPlace(read)[0]!;
    expect(phaseSpans(blocks.phases, { from_ns: 30, to_ns: 100 }, 5)).toEqual([
      { phase: 0, from_ns: 30, to_ns: 40 },
      { phase: 1, from_ns: 40, to_ns: 70 },
      { phase: 0, from_ns: 72, to_ns: 100 },
    ]);
  });

  test("reserved memory is told only where it is more than what is allocated", async () => {
    const { trace, writer } = made();
    writer.block(0, -1, 8);
    const place = trace.text("cpu");
    trace.add("memory_totals", { time_ns: 0, place, allocated_bytes: 0, reserved_bytes: 0 });
    trace.add("memory_totals", { time_ns: 9, place, allocated_bytes: 8, reserved_bytes: 8 });
    expect(reservedSteps(await trace.trace(), "cpu").times_ns).toEqual([]);
    trace.add("memory_totals", { time_ns: 50, place, allocated_bytes: 8, reserved_bytes: 64 });
    expect(reservedSteps(await trace.trace(), "cpu").reserved_bytes).toEqual([0, 8, 64]);
  });
});

test("a place in the picture is a block, a kind of the band, or empty", async () => {
  const { trace, writer } = made();
  writer.block(0, -1, 100);
  writer.block(10, 60, 1, { kind: "gradient" });
  writer.block(30, 90, 80);
  const blocks = blocksByPlace(await trace.trace())[0]!;
  const window = { from_ns: 0, to_ns: 100, width_px: 50, height_px: 300, height_bytes: 300 };
  const picture = stackBlocks(blocks, window);
  expect(hitAt(blocks, picture, 50, 99)).toEqual({ kind: "block", block: 0 });
  expect(hitAt(blocks, picture, 50, 150)).toEqual({ kind: "block", block: 2 });
  expect(hitAt(blocks, picture, 50, 180.5)).toMatchObject({ kind: "band", bytes: 1 });
  expect(hitAt(blocks, picture, 50, 200)).toEqual({ kind: "empty" });
  expect(hitAt(blocks, picture, 95, 150)).toEqual({ kind: "empty" });
});

test("what outlived the trace is told by holder, the largest first", async () => {
  const { trace, writer } = made();
  writer.block(0, -1, 10);
  writer.block(0, -1, 30);
  writer.block(0, -1, 5);
  writer.block(0, 50, 99);
  const hold = (allocation: number, kind: (typeof HOLDER_KINDS)[number], name: string): number =>
    trace.add("holders", { allocation, kind: HOLDER_KINDS.indexOf(kind), name: trace.text(name) });
  hold(0, "variable", "x");
  hold(1, "container", "cache.items[3]");
  hold(0, "container", "cache.items[3]");
  hold(3, "variable", "freed");
  const read = await trace.trace();
  const { holders, unheld, hasHolders } = heldAtEnd(read, blocksByPlace(read)[0]!);
  expect(hasHolders).toBe(true);
  expect(holders.map(({ name, bytes, blocks }) => [name, bytes, [...blocks]])).toEqual([
    ["cache.items[3]", 40, [1, 0]],
    ["x", 10, [0]],
  ]);
  expect([...unheld.blocks]).toEqual([2]);
});

test("times are sorted as by any other way, equal ones left in order", () => {
  const random = randomNumbers(3);
  const some = (time: (i: number) => number): Float64Array =>
    Float64Array.from({ length: 5000 }, (_, i) => time(i));
  for (const times of [
    some(() => Math.floor(random() * 1000) * 2 ** 33),
    some((i) => (i % 3 ? Math.floor(random() * 9) : 2 ** 50 * random())), // a burst, and far away
    some(() => 2 ** (60 * random())),
    some(() => (random() < 0.5 ? 1 : 0)),
    some((i) => 5000 - i),
    some((i) => i + Math.floor(6 * random())), // nearly sorted
    some((i) => i + Math.floor(40 * random())), // not so nearly
    some((i) => (i % 1000 === 999 ? i - 990 : i)), // but for some that are far away
    some((i) => (i < 4000 ? i : 9000 - i)), // up to some place
    some(() => 7),
    new Float64Array(0),
  ]) {
    const expected = [...times.keys()].sort((a, b) => times[a]! - times[b]! || a - b);
    expect([...numberOrder(times)]).toEqual(expected);
  }
});

test("after an error the timeline ends with the last op, not with the traceback's text", async () => {
  for (const [exception, end_ns] of [
    ["ValueError: no", 40],
    ["", 900],
  ] as const) {
    const { trace, writer } = made();
    trace.origin.exception = exception;
    const { op } = trace.op("matmul");
    Object.assign(trace.tables.ops.start_ns!, { [op]: 10 });
    Object.assign(trace.tables.ops.duration_ns!, { [op]: 30 });
    writer.block(20, -1, 8, { op });
    for (const time_ns of [5, 900]) {
      trace.add("memory_totals", { time_ns, place: trace.text("cpu"), allocated_bytes: 0 });
    }
    expect(blocksByPlace(await trace.trace())[0]!.last_ns).toBe(end_ns);
  }
});
