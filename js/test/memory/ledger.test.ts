/// <reference types="node" />
/** What a worker reckons is what the page would. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import {
  answerLedger,
  type Ledger,
  type LedgerAnswer,
  type LedgerRequest,
  ledgerOf,
  ledgerRequest,
  takeLedger,
} from "../../src/memory/ledger.ts";
import { MemoryState } from "../../src/memory/memory_state.ts";
import { stackBlocks } from "../../src/memory/stack/stacking.ts";
import { Trace } from "../../src/trace/trace.ts";
import { unpack } from "../../src/trace/unpack.ts";
import { MemoryWriter, randomNumbers } from "../records/made_memory.ts";
import { SyntheticTrace } from "../records/synthetic.ts";

const PATIENCE = { timeout: 60_000 };

/** Blocks of two devices, with ops, tensors that have names, and what was there before. */
function made(count: number): Uint8Array {
  const trace = new SyntheticTrace();
  const writer = new MemoryWriter(trace);
  const random = randomNumbers(3);
  const weight = trace.tensor("[4]", { path: "fc.weight" });
  const out = trace.op("matmul", { inputs: [weight] }).out[0]!;
  writer.block(-1, -1, 2 ** 20, { kind: "parameter", tensor: weight });
  for (let row = 0; row < count; row++) {
    const start_ns = row * 1000 + Math.floor(500 * random());
    const life_ns = Math.ceil(1e6 * random() ** 4);
    writer.block(start_ns, random() < 0.1 ? -1 : start_ns + life_ns, Math.ceil(1e6 * random()), {
      kind: random() < 0.5 ? "saved_activation" : "gradient",
      phase: row % 300 < 150 ? "forward" : "backward",
      place: random() < 0.8 ? "gpu:0" : "gpu:1",
      ...(random() < 0.5 ? { op: 0, tensor: out } : {}),
    });
  }
  for (const place of ["gpu:0", "gpu:1"]) {
    const code = trace.text(place);
    trace.add("memory_totals", {
      place: code,
      time_ns: 0,
      allocated_bytes: 2e6,
      reserved_bytes: 0,
    });
  }
  return trace.bytes();
}

/** Sent as a message is: arrays arrive, methods do not. */
function sent<T>(message: T): T {
  return structuredClone(message);
}

/** A digest for each of its arrays: to compare them number by number takes too long. */
function digested(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) {
    const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    return `${value.constructor.name} ${createHash("sha256").update(bytes).digest("hex")}`;
  }
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, part]) => [key, digested(part)]))
    : value;
}

test(
  "a ledger of a worker is that of the page, in every number and picture",
  PATIENCE,
  async () => {
    const bytes = made(50_000);
    const here = new Trace(await unpack(bytes));
    const there = new Trace(await unpack(bytes));
    const request = sent<LedgerRequest>(ledgerRequest(there)!);
    const answer = sent<LedgerAnswer>(answerLedger(request));
    const [expected, found] = [ledgerOf(here), takeLedger(there, answer)] as [Ledger, Ledger];
    expect(found.places.map(({ place }) => place)).toEqual(["gpu:0", "gpu:1", "cpu"]);
    expect(digested(found)).toEqual(digested(expected));
    expect(there.unreadAllocations!.unread).toBeUndefined();
    const [states, pictures] = [
      [new MemoryState(here), new MemoryState(there, found)],
      [expected, found].map(({ places: [blocks] }) =>
        stackBlocks(blocks!, {
          from_ns: blocks!.last_ns * 0.3,
          to_ns: blocks!.last_ns * 0.6,
          width_px: 700,
          height_px: 300,
          height_bytes: blocks!.events.peak_bytes / 100,
        }),
      ),
    ];
    expect(pictures[0]!.drawn.length).toBeGreaterThan(0);
    expect(digested(pictures[1])).toEqual(digested(pictures[0]));
    expect(digested(states[1]!.moment)).toEqual(digested(states[0]!.moment));
    const [groups, same] = states.map((state) => state.groups("op"));
    for (let group = 0; group < groups!.count; group++) {
      expect([same!.label(group), same!.note(group)]).toEqual([
        groups!.label(group),
        groups!.note(group),
      ]);
    }
  },
);

test("a worker refuses what points nowhere", PATIENCE, async () => {
  const trace = new Trace(await unpack(made(50_000)));
  const request = ledgerRequest(trace)!;
  const { columns } = request.allocations;
  const phase = { ...columns.phase!, range: { lowest: 0, end: 1 } };
  const broken = { ...request.allocations, columns: { ...columns, phase } };
  expect(() => answerLedger({ ...request, allocations: broken })).toThrow("cut short or altered");
});

test("few allocations are nothing for a worker", async () => {
  expect(ledgerRequest(new Trace(await unpack(made(10))))).toBeUndefined();
});
