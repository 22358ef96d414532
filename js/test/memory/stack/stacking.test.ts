import { describe, expect, test } from "vitest";
import { blocksByPlace } from "../../../src/memory/blocks/blocks.ts";
import { aliveAt, peakWithin, totalAt } from "../../../src/memory/blocks/moment.ts";
import type { StackPicture, Window } from "../../../src/memory/stack/stack_window.ts";
import { stackBlocks } from "../../../src/memory/stack/stacking.ts";
import { SCOPE_KINDS } from "../../../src/trace/protocol.ts";
import { loopOfSteps, MemoryWriter, randomNumbers } from "../../records/made_memory.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";

async function blocksOf(
  ...spans: readonly (readonly [from: number, to: number, bytes: number])[]
): Promise<ReturnType<typeof blocksByPlace>[number]> {
  const trace = new SyntheticTrace();
  trace.origin.duration_ns = 100;
  const writer = new MemoryWriter(trace);
  for (const [from, to, bytes] of spans) writer.block(from, to, bytes);
  return blocksByPlace(await trace.trace())[0]!;
}

const WHOLE: Window = { from_ns: 0, to_ns: 100, width_px: 1000, height_px: 300, height_bytes: 300 };

/** "0–10 at 0" of each piece of each drawn block. */
function pieces(picture: StackPicture): string[][] {
  return [...picture.drawn].map((_, at) => {
    const [from, to] = [picture.pieceStarts[at]!, picture.pieceStarts[at + 1]!];
    return Array.from({ length: to - from }, (_, i) => {
      const piece = from + i;
      return `${picture.piece_from_ns[piece]}–${picture.piece_to_ns[piece]} at ${picture.piece_bottom_bytes[piece]}`;
    });
  });
}

/** Height of the whole picture just after a moment. */
function heightAt(picture: StackPicture, time_ns: number): number {
  let at = 0;
  while (at + 1 < picture.band_ns.length && picture.band_ns[at + 1]! <= time_ns) at++;
  return picture.band_bytes.reduce(
    (sum, bytes) => sum + bytes[at]!,
    picture.band_bottom_bytes[at]!,
  );
}

describe("stacked blocks", () => {
  test("lie in the order of their starts and sink when one below ends", async () => {
    const blocks = await blocksOf([-1, 50, 100], [10, -1, 40], [20, 30, 30], [60, -1, 20]);
    const picture = stackBlocks(blocks, WHOLE);
    expect(pieces(picture)).toEqual([
      ["0–50 at 0"],
      ["10–50 at 100", "50–100 at 0"],
      ["20–30 at 140"],
      ["60–100 at 40"],
    ]);
    expect(picture.bandCount).toBe(0);
  });

  test("that are too low or too short are the band, whose top is the total", async () => {
    const blocks = await blocksOf([0, 100, 100], [10, 60, 1], [20, 21, 50], [30, 90, 80]);
    // 100 ns on 50 pixels: the third block is half a pixel wide.
    const picture = stackBlocks(blocks, { ...WHOLE, width_px: 50 });
    expect([...picture.drawn]).toEqual([0, 3]);
    expect(picture.bandCount).toBe(2);
    expect(heightAt(picture, 15)).toBe(101);
    expect(heightAt(picture, 20)).toBe(151);
    expect(heightAt(picture, 40)).toBe(181);
    expect(heightAt(picture, 70)).toBe(180);
  });

  test("that stand for several are in the band, however large they are", async () => {
    const trace = new SyntheticTrace();
    trace.origin.duration_ns = 100;
    const scope = trace.add("scopes", {
      kind: SCOPE_KINDS.indexOf("sum"),
      name: trace.text("added up"),
      parent: -1,
      layer: -1,
      op: -1,
      backward_call: -1,
    });
    const writer = new MemoryWriter(trace);
    writer.block(0, 50, 100, { scope });
    writer.block(0, 90, 40);
    writer.block(50, 100, 120, { scope });
    const picture = stackBlocks(blocksByPlace(await trace.trace())[0]!, WHOLE);
    expect([...picture.drawn]).toEqual([1]);
    expect(pieces(picture)).toEqual([["0–90 at 0"]]);
    expect(heightAt(picture, 20)).toBe(140);
    expect(heightAt(picture, 60)).toBe(160);
    expect(heightAt(picture, 95)).toBe(120);
  });

  test("resolve on zoom", async () => {
    const blocks = await blocksOf([0, 100, 100], [10, 60, 1], [20, 21, 50]);
    const near = { ...WHOLE, from_ns: 19, to_ns: 22, width_px: 50, height_bytes: 10 };
    const picture = stackBlocks(blocks, near);
    expect([...picture.drawn]).toEqual([0, 1, 2]);
    expect(pieces(picture)[2]).toEqual(["20–21 at 101"]);
  });

  test("of any trace fill the total at every moment and never overlap", () => {
    const trace = loopOfSteps(3000, { perStep: 500 });
    const blocks = blocksByPlace(trace)[0]!;
    const { peak_bytes } = blocks.events;
    const random = randomNumbers(7);
    for (const part of [1, 0.2, 0.01]) {
      const span_ns = blocks.last_ns * part;
      const from_ns = (blocks.last_ns - span_ns) * random();
      const window = { from_ns, to_ns: from_ns + span_ns, width_px: 1e7, height_px: 300 };
      const picture = stackBlocks(blocks, { ...window, height_bytes: peak_bytes });
      expect(picture.drawn.length).toBeGreaterThan(5);
      for (let probe = 0; probe < 100; probe++) {
        // Between two events: times are whole.
        const time_ns = Math.floor(from_ns + span_ns * random()) + 0.5;
        if (time_ns >= window.to_ns) continue;
        expect(heightAt(picture, time_ns)).toBeCloseTo(totalAt(blocks, time_ns));
        let top = 0;
        for (let at = 0; at < picture.drawn.length; at++) {
          for (let p = picture.pieceStarts[at]!; p < picture.pieceStarts[at + 1]!; p++) {
            if (picture.piece_from_ns[p]! <= time_ns && time_ns < picture.piece_to_ns[p]!) {
              expect(picture.piece_bottom_bytes[p]).toBeCloseTo(top);
              top += blocks.bytes[picture.drawn[at]!]!;
            }
          }
        }
      }
    }
  });

  test("of a million allocations are few, and the peak still stands out", () => {
    const blocks = blocksByPlace(loopOfSteps(1_000_000))[0]!;
    const { peak_bytes, peak_ns } = blocks.events;
    const window = { from_ns: 0, to_ns: blocks.last_ns, width_px: 1200, height_px: 300 };
    const picture = stackBlocks(blocks, { ...window, height_bytes: peak_bytes });
    expect(picture.drawn.length).toBeLessThanOrEqual(2500);
    expect(picture.band_ns.length).toBeLessThan(3 * 1200);
    const column_ns = blocks.last_ns / 1200;
    const tops = [-1, 0].map((columns) => heightAt(picture, peak_ns + columns * column_ns));
    expect(Math.max(...tops)).toBe(peak_bytes);
  });
});

describe("blocks", () => {
  test("are alive from their start up to their end", async () => {
    const blocks = await blocksOf([-1, 50, 100], [10, -1, 40], [20, 30, 30]);
    expect([...aliveAt(blocks, 0)]).toEqual([0]);
    expect([...aliveAt(blocks, 20)]).toEqual([0, 1, 2]);
    expect([...aliveAt(blocks, 30)]).toEqual([0, 1]);
    expect([...aliveAt(blocks, 50)]).toEqual([1]);
    expect(totalAt(blocks, 29)).toBe(170);
    expect(blocks.events.peak_bytes).toBe(170);
    expect(blocks.events.peak_ns).toBe(20);
    expect(peakWithin(blocks, 31, 90)).toBe(31);
    expect(peakWithin(blocks, 0, 15)).toBe(10);
  });

  test("of unsorted rows are sorted, and a block freed at once is no trouble", async () => {
    const blocks = await blocksOf([40, 50, 8], [10, 10, 16], [10, 30, 4]);
    expect([...blocks.rows]).toEqual([1, 2, 0]);
    expect([...blocks.events.total_bytes]).toEqual([16, 0, 4, 0, 8, 0]);
    expect(blocks.events.peak_bytes).toBe(16);
  });

  test("of several devices are kept apart, the fullest first", async () => {
    const trace = new SyntheticTrace();
    const writer = new MemoryWriter(trace);
    writer.block(0, -1, 10, { place: "cpu" });
    writer.block(5, -1, 99, { place: "gpu:0" });
    const places = blocksByPlace(await trace.trace());
    expect(places.map(({ place }) => place)).toEqual(["gpu:0", "cpu"]);
    expect(places[0]!.events.peak_bytes).toBe(99);
  });
});
