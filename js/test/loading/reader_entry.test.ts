/// <reference types="node" />
/** What the worker inflates from parts is what the page would, and so is what it reckons of it. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { type ReaderOrder, type ReaderReply, serve } from "../../src/loading/reader_entry.ts";
import { answerLedger, ledgerRequest } from "../../src/memory/ledger.ts";
import { Trace } from "../../src/trace/trace.ts";
import { readInflated, streamStart, unpack } from "../../src/trace/unpack.ts";
import { MemoryWriter } from "../records/made_memory.ts";
import { SyntheticTrace } from "../records/synthetic.ts";

const digest = (column: ArrayBufferView): string =>
  createHash("sha256").update(new Uint8Array(column.buffer)).digest("hex");

test("a worker inflates parts and reckons what it inflated", { timeout: 60_000 }, async () => {
  const writer = new MemoryWriter(new SyntheticTrace());
  for (let row = 0; row < 50_000; row++) {
    writer.block(row * 10, row % 3 ? row * 10 + 700 : -1, 1 + (row % 1000));
  }
  const packed = writer.trace.bytes();
  const scope = globalThis as unknown as {
    onmessage: (event: { data: ReaderOrder }) => void;
    postMessage: (reply: ReaderReply) => void;
  };
  serve();
  const replies: ReaderReply[] = [];
  scope.postMessage = (reply) => replies.push(reply);
  const stream = packed.slice(streamStart(packed));
  const text = Buffer.from(stream.subarray(30_000)).toString("base64");
  scope.onmessage({ data: { kind: "add", parts: [stream.slice(0, 30_000), text] } });
  scope.onmessage({ data: { kind: "end" } });
  await expect.poll(() => replies.length).toBe(2);
  const [inflated, reply] = replies as [ReaderReply, ReaderReply];
  const bytes = inflated.kind === "inflated" ? inflated.bytes : new Uint8Array(0);
  expect(new Trace(readInflated(bytes)).table("allocations").length).toBe(50_000);
  const expected = answerLedger(ledgerRequest(new Trace(await unpack(packed)))!);
  expect(reply.kind).toBe("done");
  const found = reply.kind === "done" ? reply.answer : expected;
  expect(Object.keys(found.columns).sort()).toEqual(Object.keys(expected.columns).sort());
  for (const [name, column] of Object.entries(expected.columns)) {
    expect(digest(found.columns[name]!)).toBe(digest(column));
  }
  const [places, same] = [found.ledger.places, expected.ledger.places];
  expect(digest(places[0]!.events.total_bytes)).toBe(digest(same[0]!.events.total_bytes));
});
