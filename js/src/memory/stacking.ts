/**
 * The timeline's picture: blocks stacked in the order of their starts, each on the one below it. When
 * a block ends, those above it sink. Blocks too small to be seen, or too many, are one band on top,
 * so the outline is the exact total whatever is drawn one by one.
 */
import type { Blocks } from "./blocks.ts";
import { Band, type BandSteps } from "./stack_band.ts";
import { type PieceColumns, Pieces, Stack } from "./stack_pieces.ts";
import { countUntil } from "./time_order.ts";

/** What the picture shows, and on how many pixels. */
export interface Window {
  readonly from_ns: number;
  readonly to_ns: number;
  readonly width_px: number;
  readonly height_px: number;
  /** Bytes over the whole height. */
  readonly height_bytes: number;
}

export interface StackPicture extends PieceColumns, BandSteps {
  readonly window: Window;
  /** Blocks drawn one by one, by start. */
  readonly drawn: Int32Array;
  /** Blocks of the window that are in the band. */
  readonly bandCount: number;
}

/** Smaller blocks are lines, not areas. */
const LEAST_HEIGHT_PX = 1.5;
const LEAST_WIDTH_PX = 0.75;
const MOST_BLOCKS = 2500;
const MOST_PIECES = 40_000;
/** By how much the least height grows where there would be too many pieces. */
const STRICTER = 2;

export function stackBlocks(blocks: Blocks, window: Window): StackPicture {
  let least_px = LEAST_HEIGHT_PX;
  for (;;) {
    const { drawn, inWindow } = choose(blocks, window, least_px);
    const picture = sweep(blocks, window, drawn, inWindow);
    if (picture) {
      return picture;
    }
    least_px *= STRICTER;
  }
}

/** Blocks worth an area of their own, and how many there are in all. */
function choose(
  { start_ns, end_ns, bytes }: Blocks,
  { from_ns, to_ns, width_px, height_px, height_bytes }: Window,
  least_px: number,
): { drawn: Int32Array; inWindow: number } {
  const least_bytes = (least_px * height_bytes) / height_px;
  const least_ns = (LEAST_WIDTH_PX * (to_ns - from_ns)) / width_px;
  const started = countUntil(start_ns, to_ns);
  const found: number[] = [];
  let inWindow = 0;
  for (let block = 0; block < started; block++) {
    if (end_ns[block]! <= from_ns) {
      continue;
    }
    inWindow++;
    if (
      bytes[block]! >= least_bytes &&
      Math.min(end_ns[block]!, to_ns) - Math.max(start_ns[block]!, from_ns) >= least_ns
    ) {
      found.push(block);
    }
  }
  return { drawn: largest(Int32Array.from(found), bytes), inWindow };
}

/** The largest of some blocks, as many as are drawn; of equals the first. */
function largest(found: Int32Array, bytes: Float64Array): Int32Array {
  if (found.length <= MOST_BLOCKS) {
    return found;
  }
  const sizes = Float64Array.from(found, (block) => bytes[block]!).sort();
  const limit_bytes = sizes[sizes.length - MOST_BLOCKS]!;
  let room = MOST_BLOCKS - sizes.filter((size_bytes) => size_bytes > limit_bytes).length;
  return found.filter(
    (block) => bytes[block]! > limit_bytes || (bytes[block] === limit_bytes && room-- > 0),
  );
}

/** @returns undefined where it would take too many pieces */
function sweep(
  blocks: Blocks,
  window: Window,
  drawn: Int32Array,
  inWindow: number,
): StackPicture | undefined {
  const { start_ns, bytes, kinds, events } = blocks;
  const { from_ns, to_ns, width_px } = window;
  const column_ns = (to_ns - from_ns) / width_px;
  const slotOf = slots(blocks, drawn);
  const pieces = new Pieces(drawn.length);
  const stack = new Stack(drawn, bytes, pieces);
  const band = new Band();

  const first = countUntil(events.times_ns, from_ns);
  for (let block = 0; block < blocks.rows.length && start_ns[block]! <= from_ns; block++) {
    if (blocks.end_ns[block]! > from_ns) {
      const slot = slotOf[block]!;
      if (slot < 0) {
        band.add(kinds[block]!, bytes[block]!);
      } else {
        stack.add(slot, from_ns);
      }
    }
  }
  band.step(from_ns, stack.total_bytes);

  const end = countUntil(events.times_ns, to_ns);
  for (let at = first; at < end; ) {
    // Events that fall into one column of pixels sink the stack once; one alone keeps its own time.
    const time_ns = events.times_ns[at]!;
    const until_ns = time_ns + column_ns;
    let highest = at;
    let columnEnd = at;
    do {
      if (events.total_bytes[columnEnd]! > events.total_bytes[highest]!) {
        highest = columnEnd;
      }
      columnEnd++;
    } while (columnEnd < end && events.times_ns[columnEnd]! < until_ns);
    for (; at < columnEnd; at++) {
      const event = events.blocks[at]!;
      const block = event < 0 ? ~event : event;
      const slot = slotOf[block]!;
      if (slot < 0) {
        band.add(kinds[block]!, event < 0 ? -bytes[block]! : bytes[block]!);
      } else if (event < 0) {
        stack.remove(slot, events.times_ns[at]!);
      } else {
        stack.add(slot, events.times_ns[at]!);
      }
      if (at === highest) {
        band.noteHighest(stack.total_bytes);
      }
    }
    stack.sink(time_ns);
    band.endColumn(time_ns, until_ns, stack.total_bytes);
    if (pieces.count > MOST_PIECES) {
      return undefined;
    }
  }
  stack.close(to_ns);
  band.step(to_ns, stack.total_bytes);
  return { window, drawn, ...pieces.sorted(), ...band.steps(), bandCount: inWindow - drawn.length };
}

/** By block: its position among those drawn, -1 for others. */
function slots(blocks: Blocks, drawn: Int32Array): Int32Array {
  const slotOf = new Int32Array(blocks.rows.length).fill(-1);
  drawn.forEach((block, slot) => {
    slotOf[block] = slot;
  });
  return slotOf;
}
