/**
 * The timeline's picture: blocks stacked in the order of their starts, each on the one below it. When
 * a block ends, those above it sink. Blocks too small to be seen, or too many, are one band on top,
 * so the outline is the exact total whatever is drawn one by one.
 */
import type { Blocks } from "./blocks.ts";
import { MEMORY_KINDS } from "./kinds.ts";
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

export interface StackPicture {
  readonly window: Window;
  /** Blocks drawn one by one, by start. */
  readonly drawn: Int32Array;
  /** Pieces of the drawn block `i` are `pieceStarts[i] … pieceStarts[i + 1]`: where it lay, and when. */
  readonly pieceStarts: Int32Array;
  readonly piece_from_ns: Float64Array;
  readonly piece_to_ns: Float64Array;
  readonly piece_bottom_bytes: Float64Array;
  /** The band of all others, as steps: what lies under it from each time on. */
  readonly band_ns: Float64Array;
  readonly band_bottom_bytes: Float64Array;
  /** Its bytes by position in MEMORY_KINDS, stacked in that order. */
  readonly band_bytes: readonly Float64Array[];
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

/** The blocks that lie on each other at a moment. */
class Stack {
  total_bytes = 0;
  readonly #alive: number[] = [];
  readonly #bottom_bytes: Float64Array;
  readonly #since_ns: Float64Array;
  /** Position in `#alive` from which on blocks hang in the air. */
  #lowestGap = Infinity;

  constructor(
    readonly drawn: Int32Array,
    readonly bytes: Float64Array,
    readonly pieces: Pieces,
  ) {
    this.#bottom_bytes = new Float64Array(drawn.length);
    this.#since_ns = new Float64Array(drawn.length);
  }

  add(slot: number, time_ns: number): void {
    this.#alive.push(slot);
    this.#bottom_bytes[slot] = this.total_bytes;
    this.#since_ns[slot] = time_ns;
    this.total_bytes += this.bytes[this.drawn[slot]!]!;
  }

  remove(slot: number, time_ns: number): void {
    const at = this.#positionOf(slot);
    this.#alive.splice(at, 1);
    this.#end(slot, time_ns);
    this.total_bytes -= this.bytes[this.drawn[slot]!]!;
    this.#lowestGap = Math.min(this.#lowestGap, at);
  }

  /** Let everything above a gap sink, as of `time_ns`. */
  sink(time_ns: number): void {
    const from = this.#lowestGap;
    this.#lowestGap = Infinity;
    if (from >= this.#alive.length) {
      return;
    }
    const below = this.#alive[from - 1];
    let bottom_bytes =
      below === undefined ? 0 : this.#bottom_bytes[below]! + this.bytes[this.drawn[below]!]!;
    for (let at = from; at < this.#alive.length; at++) {
      const slot = this.#alive[at]!;
      if (this.#bottom_bytes[slot] !== bottom_bytes) {
        // A block that came within the same column lies where it will stay.
        if (this.#since_ns[slot]! < time_ns) {
          this.#end(slot, time_ns);
          this.#since_ns[slot] = time_ns;
        }
        this.#bottom_bytes[slot] = bottom_bytes;
      }
      bottom_bytes += this.bytes[this.drawn[slot]!]!;
    }
  }

  close(time_ns: number): void {
    for (const slot of this.#alive) {
      this.#end(slot, time_ns);
    }
  }

  #end(slot: number, time_ns: number): void {
    if (time_ns > this.#since_ns[slot]!) {
      this.pieces.add(slot, this.#since_ns[slot]!, time_ns, this.#bottom_bytes[slot]!);
    }
  }

  /** Slots are numbered by start, so the living ones ascend. */
  #positionOf(slot: number): number {
    let low = 0;
    let high = this.#alive.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#alive[middle]! < slot) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}

class Pieces {
  readonly #slots: number[] = [];
  readonly #from_ns: number[] = [];
  readonly #to_ns: number[] = [];
  readonly #bottom_bytes: number[] = [];

  constructor(readonly slotCount: number) {}

  get count(): number {
    return this.#slots.length;
  }

  add(slot: number, from_ns: number, to_ns: number, bottom_bytes: number): void {
    this.#slots.push(slot);
    this.#from_ns.push(from_ns);
    this.#to_ns.push(to_ns);
    this.#bottom_bytes.push(bottom_bytes);
  }

  /** Pieces block by block, each in the order of time. */
  sorted(): Pick<
    StackPicture,
    "pieceStarts" | "piece_from_ns" | "piece_to_ns" | "piece_bottom_bytes"
  > {
    const pieceStarts = new Int32Array(this.slotCount + 1);
    for (const slot of this.#slots) {
      pieceStarts[slot + 1]!++;
    }
    for (let slot = 0; slot < this.slotCount; slot++) {
      pieceStarts[slot + 1]! += pieceStarts[slot]!;
    }
    const next = pieceStarts.slice();
    const piece_from_ns = new Float64Array(this.count);
    const piece_to_ns = new Float64Array(this.count);
    const piece_bottom_bytes = new Float64Array(this.count);
    for (let piece = 0; piece < this.count; piece++) {
      const at = next[this.#slots[piece]!]!++;
      piece_from_ns[at] = this.#from_ns[piece]!;
      piece_to_ns[at] = this.#to_ns[piece]!;
      piece_bottom_bytes[at] = this.#bottom_bytes[piece]!;
    }
    return { pieceStarts, piece_from_ns, piece_to_ns, piece_bottom_bytes };
  }
}

/** The band on top of the drawn blocks. */
class Band {
  readonly #ns: number[] = [];
  readonly #bottom_bytes: number[] = [];
  readonly #bytes = MEMORY_KINDS.map((): number[] => []);
  readonly #now_bytes = new Float64Array(MEMORY_KINDS.length);
  #total_bytes = 0;
  /** The highest moment of the column that is under way. */
  readonly #highest_bytes = new Float64Array(MEMORY_KINDS.length);
  #highestTop_bytes = 0;
  #highestBottom_bytes = 0;

  add(kind: number, bytes: number): void {
    this.#now_bytes[kind]! += bytes;
    this.#total_bytes += bytes;
  }

  noteHighest(bottom_bytes: number): void {
    this.#highestTop_bytes = bottom_bytes + this.#total_bytes;
    this.#highestBottom_bytes = bottom_bytes;
    this.#highest_bytes.set(this.#now_bytes);
  }

  /** A column stands as high as its highest moment: the peak may be there. */
  endColumn(from_ns: number, to_ns: number, bottom_bytes: number): void {
    if (this.#highestTop_bytes > bottom_bytes + this.#total_bytes) {
      this.#push(from_ns, this.#highestBottom_bytes, this.#highest_bytes);
      this.step(to_ns, bottom_bytes);
    } else {
      this.step(from_ns, bottom_bytes);
    }
  }

  step(time_ns: number, bottom_bytes: number): void {
    this.#push(time_ns, bottom_bytes, this.#now_bytes);
  }

  steps(): Pick<StackPicture, "band_ns" | "band_bottom_bytes" | "band_bytes"> {
    return {
      band_ns: Float64Array.from(this.#ns),
      band_bottom_bytes: Float64Array.from(this.#bottom_bytes),
      band_bytes: this.#bytes.map((bytes) => Float64Array.from(bytes)),
    };
  }

  #push(time_ns: number, bottom_bytes: number, bytes: Float64Array): void {
    this.#ns.push(time_ns);
    this.#bottom_bytes.push(bottom_bytes);
    for (let kind = 0; kind < bytes.length; kind++) {
      this.#bytes[kind]!.push(bytes[kind]!);
    }
  }
}
