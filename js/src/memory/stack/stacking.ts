/**
 * The picture of the timeline: blocks stacked in the order of their starts. When a block ends, the
 * blocks above it move down. Blocks that are too small or too many form a band on top. So the
 * outline is always the exact total.
 */

import { countBefore, countUntil, numberOrder } from "../../trace/number_order.ts";
import type { Blocks } from "../blocks/blocks.ts";
import { highestWithin } from "../blocks/events.ts";
import { MEMORY_KINDS } from "../blocks/kinds.ts";
import { aliveAt } from "../blocks/moment.ts";
import { Band } from "./stack_band.ts";
import { chooseBlocks, MOST_BLOCKS } from "./stack_choice.ts";
import { Stack } from "./stack_pieces.ts";
import { LEAST_HEIGHT_PX, type StackPicture, type Window } from "./stack_window.ts";

const MOST_PIECES = 40_000;
/** If there are too many pieces, the least height of a block grows by this factor. */
const STRICTER = 2;

export function stackBlocks(blocks: Blocks, window: Window): StackPicture {
  let least_px = LEAST_HEIGHT_PX;
  for (;;) {
    const { blocks: chosen, inWindow } = chooseBlocks(blocks, window, least_px);
    const picture = sweep(blocks, window, chosen);
    if (picture) {
      return { ...picture, bandCount: inWindow - chosen.length };
    }
    least_px *= STRICTER;
  }
}

/**
 * @param chosen the blocks to stack one by one, from the bottom up
 * @returns undefined if this would need too many pieces
 */
function sweep(
  blocks: Blocks,
  window: Window,
  chosen: Int32Array,
): Omit<StackPicture, "bandCount"> | undefined {
  const { bytes, kinds, events } = blocks;
  const { times_ns } = events;
  const { from_ns, to_ns } = window;
  const first = countUntil(times_ns, from_ns);
  const stack = new Stack(chosen, bytes, window.shown);
  const band = new Band();
  const changes = changesOf(blocks, window, chosen);
  /** Living bytes by kind before `nextEvent`, without the blocks in the stack. */
  const band_bytes = new Float64Array(MEMORY_KINDS.length);
  for (const block of aliveAt(blocks, from_ns)) {
    band_bytes[kinds[block]!]! += bytes[block]!;
  }
  let nextEvent = first;
  const bandAfter = (event: number): Float64Array => {
    for (; nextEvent <= event; nextEvent++) {
      const block = events.blocks[nextEvent]!;
      if (block < 0) {
        band_bytes[kinds[~block]!]! -= bytes[~block]!;
      } else {
        band_bytes[kinds[block]!]! += bytes[block]!;
      }
    }
    return band_bytes;
  };
  const change = (slot: number, time_ns: number): void => {
    const block = chosen[slot < 0 ? ~slot : slot]!;
    if (slot < 0) {
      stack.remove(~slot, time_ns);
      band_bytes[kinds[block]!]! += bytes[block]!;
    } else {
      stack.add(slot, time_ns);
      band_bytes[kinds[block]!]! -= bytes[block]!;
    }
  };

  for (const slot of changes.first) {
    change(slot, from_ns);
  }
  stack.settle(from_ns);
  band.step(from_ns, stack.total_bytes, bandAfter(first - 1));
  const end = countUntil(times_ns, to_ns);
  let next = 0;
  const changeUntil = (time_ns: number): void => {
    for (; next < changes.slots.length && changes.times_ns[next]! <= time_ns; next++) {
      change(changes.slots[next]!, changes.times_ns[next]!);
    }
  };
  for (let at = first; at < end; ) {
    // The stack moves down at most once in each column of pixels. But a single event keeps its own
    // time.
    const time_ns = times_ns[at]!;
    const until_ns = columnEnd(window, time_ns);
    const columnEndAt = countBefore(times_ns, until_ns, at + 1, end);
    const highestAt = highestWithin(events, at, columnEndAt);
    changeUntil(times_ns[highestAt]!);
    band.noteHighest(stack.total_bytes, bandAfter(highestAt));
    changeUntil(times_ns[columnEndAt - 1]!);
    stack.settle(time_ns);
    band.endColumn(time_ns, until_ns, stack.total_bytes, bandAfter(columnEndAt - 1));
    at = columnEndAt;
    if (stack.pieceCount > MOST_PIECES) {
      return undefined;
    }
  }
  stack.close(to_ns);
  band.step(to_ns, stack.total_bytes, bandAfter(end - 1));
  const drawn = stack.columns();
  if (window.shown && drawn.drawn.length > MOST_BLOCKS) {
    return undefined;
  }
  return { window, ...drawn, ...band.steps() };
}

/** The end of the pixel column that contains a moment. */
function columnEnd({ from_ns, to_ns, width_px }: Window, time_ns: number): number {
  const column_ns = (to_ns - from_ns) / width_px;
  const column = Math.floor((time_ns - from_ns) / column_ns) + 1;
  const end_ns = from_ns + column * column_ns;
  return end_ns > time_ns ? end_ns : end_ns + column_ns;
}

interface Changes {
  /** Positions of the blocks that are alive when the window begins. */
  readonly first: number[];
  /** The changes by time, ends before starts: a position for a start, `~position` for an end. */
  readonly times_ns: Float64Array;
  readonly slots: Int32Array;
}

function changesOf({ start_ns, end_ns }: Blocks, window: Window, chosen: Int32Array): Changes {
  const { from_ns, to_ns } = window;
  const first: number[] = [];
  const ends: number[] = [];
  const starts: number[] = [];
  chosen.forEach((block, slot) => {
    if (start_ns[block]! <= from_ns) {
      first.push(slot);
    } else {
      starts.push(slot);
    }
    if (end_ns[block]! <= to_ns) {
      ends.push(slot);
    }
  });
  // Equal times keep this order: ends come before starts.
  const all_ns = Float64Array.from([
    ...ends.map((slot) => end_ns[chosen[slot]!]!),
    ...starts.map((slot) => start_ns[chosen[slot]!]!),
  ]);
  const slots = [...ends.map((slot) => ~slot), ...starts];
  const order = numberOrder(all_ns);
  return {
    first,
    times_ns: Float64Array.from(order, (at) => all_ns[at]!),
    slots: Int32Array.from(order, (at) => slots[at]!),
  };
}
