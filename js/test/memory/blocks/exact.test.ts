/** What the timeline draws of many blocks is what they were, at every zoom. */
import { describe, expect, test } from "vitest";
import { type Blocks, blocksByPlace } from "../../../src/memory/blocks/blocks.ts";
import { aliveAt, peakWithin, totalAt } from "../../../src/memory/blocks/moment.ts";
import { hitAt } from "../../../src/memory/stack/hit.ts";
import { windowAround } from "../../../src/memory/stack/locate.ts";
import type { StackPicture, Window } from "../../../src/memory/stack/stack_window.ts";
import { stackBlocks } from "../../../src/memory/stack/stacking.ts";
import type { Trace } from "../../../src/trace/trace.ts";
import {
  loopOfSteps,
  neverFreed,
  randomLives,
  randomNumbers,
  tinyTemporaries,
} from "../../records/made_memory.ts";

const SHAPES: readonly (readonly [string, (count: number) => Trace])[] = [
  ["a training loop", (count) => loopOfSteps(count)],
  ["random lives", randomLives],
  ["tiny temporaries", tinyTemporaries],
  ["blocks that stay", neverFreed],
];
const COUNT = 20_000;
const FRAME = { width_px: 700, height_px: 300 };

/** Where the total changed, and to what: added up block by block, as the picture does not. */
function changes({ start_ns, end_ns, bytes }: Blocks): { times: number[]; totals: number[] } {
  const by = new Map<number, number>();
  const add = (time_ns: number, change: number): void => {
    if (time_ns < Infinity) by.set(time_ns, (by.get(time_ns) ?? 0) + change);
  };
  start_ns.forEach((time_ns, block) => {
    add(time_ns, bytes[block]!);
    add(end_ns[block]!, -bytes[block]!);
  });
  const times = [...by.keys()].sort((a, b) => a - b);
  let total = 0;
  const totals = times.map((time_ns) => {
    total += by.get(time_ns)!;
    return total;
  });
  return { times, totals };
}

/** The highest of steps in each column of pixels, from what held before on. */
function highestByColumn(
  times: readonly number[],
  totals: readonly number[],
  window: Window,
): number[] {
  const { from_ns, to_ns, width_px } = window;
  const column_ns = (to_ns - from_ns) / width_px;
  let at = 0;
  while (at < times.length && times[at]! <= from_ns) at++;
  let now = at > 0 ? totals[at - 1]! : 0;
  return Array.from({ length: width_px }, (_, column) => {
    // What held before counts for as long as it lasts into the column.
    let highest = times[at] === from_ns + column * column_ns ? 0 : now;
    const until_ns = column + 1 === width_px ? to_ns : from_ns + (column + 1) * column_ns;
    for (; at < times.length && times[at]! < until_ns; at++) {
      now = totals[at]!;
      highest = Math.max(highest, now);
    }
    return highest;
  });
}

function outline({ band_ns, band_bottom_bytes, band_bytes }: StackPicture): [number[], number[]] {
  const tops = [...band_bottom_bytes].map((bottom, step) =>
    band_bytes.reduce((sum, bytes) => sum + bytes[step]!, bottom),
  );
  return [[...band_ns], tops];
}

describe.each(SHAPES)("%s", (_, make) => {
  const blocks = blocksByPlace(make(COUNT))[0]!;
  const { peak_bytes } = blocks.events;
  const random = randomNumbers(11);

  test("stand as high in every column of pixels as the running total, at every zoom", () => {
    const { times, totals } = changes(blocks);
    for (const zoom of [1, 3, 30, 1000, 30_000]) {
      for (const magnified of [1, 50]) {
        const span_ns = (blocks.last_ns - blocks.first_ns) / zoom;
        const from_ns = blocks.first_ns + (blocks.last_ns - blocks.first_ns - span_ns) * random();
        const height_bytes = peak_bytes / magnified;
        const from_bytes = (peak_bytes - height_bytes) * random();
        const window: Window = {
          ...FRAME,
          from_ns,
          to_ns: from_ns + span_ns,
          height_bytes,
          whole_bytes: peak_bytes,
          ...(magnified > 1 && { shown: { from_bytes, to_bytes: from_bytes + height_bytes } }),
        };
        const drawn = highestByColumn(...outline(stackBlocks(blocks, window)), window);
        expect(drawn).toEqual(highestByColumn(times, totals, window));
      }
    }
  });

  test("can each be hit once they are zoomed in on", () => {
    const smallest = blocks.bytes.indexOf(Math.min(...blocks.bytes));
    const sample = Array.from({ length: 15 }, () => Math.floor(random() * blocks.bytes.length));
    for (const block of [smallest, ...sample]) {
      const window = windowAround(blocks, block, { ...FRAME, whole_bytes: peak_bytes });
      const picture = stackBlocks(blocks, window);
      const at = picture.drawn.indexOf(block);
      expect(at).toBeGreaterThanOrEqual(0);
      const piece = picture.pieceStarts[at]!;
      const time_ns = (picture.piece_from_ns[piece]! + picture.piece_to_ns[piece]!) / 2;
      const height_bytes = picture.piece_bottom_bytes[piece]! + blocks.bytes[block]! / 2;
      expect(hitAt(blocks, picture, time_ns, height_bytes)).toEqual({ kind: "block", block });
      // Wide and high enough to be pressed.
      const px_ns = (window.to_ns - window.from_ns) / window.width_px;
      const life_ns = Math.min(blocks.end_ns[block]!, window.to_ns) - blocks.start_ns[block]!;
      expect(life_ns / px_ns).toBeGreaterThan(10);
      const px_bytes = window.height_bytes / window.height_px;
      expect(blocks.bytes[block]! / px_bytes).toBeGreaterThan(10);
    }
  });

  test("tell what was alive in a moment, and a span's peak", () => {
    const { times, totals } = changes(blocks);
    for (let probe = 0; probe < 30; probe++) {
      const [a, b] = [random(), random()].map((part) => Math.floor(part * blocks.last_ns));
      const [from_ns, to_ns] = [Math.min(a!, b!), Math.max(a!, b!)];
      const alive = [...blocks.start_ns.keys()].filter(
        (block) => blocks.start_ns[block]! <= from_ns && blocks.end_ns[block]! > from_ns,
      );
      expect([...aliveAt(blocks, from_ns)]).toEqual(alive);
      const bytes = alive.reduce((sum, block) => sum + blocks.bytes[block]!, 0);
      expect(totalAt(blocks, from_ns)).toBe(bytes);
      const within = totals.filter((_total, at) => times[at]! > from_ns && times[at]! <= to_ns);
      const peak_ns = peakWithin(blocks, from_ns, to_ns);
      expect(totalAt(blocks, peak_ns)).toBe(within.reduce((a, b) => Math.max(a, b), bytes));
    }
  });
});
