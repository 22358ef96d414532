/** The positions of stacked blocks over time. When a block ends, the blocks above it move down. */
import { countBefore } from "../../trace/number_order.ts";

export interface PieceColumns {
  /** The blocks that have pieces, from the bottom up. */
  readonly drawn: Int32Array;
  /** The pieces of block `i` are `pieceStarts[i] … pieceStarts[i + 1]`: its positions over time. */
  readonly pieceStarts: Int32Array;
  readonly piece_from_ns: Float64Array;
  readonly piece_to_ns: Float64Array;
  readonly piece_bottom_bytes: Float64Array;
}

/** Each piece has three numbers: start, end and bottom. */
const NUMBERS = 3;

/** The blocks in the stack at a moment. Each has a slot, numbered from the bottom. */
export class Stack {
  total_bytes = 0;
  /** The number of drawn pieces. */
  pieceCount = 0;
  /** Slots of living blocks, ascending. */
  readonly #alive: number[] = [];
  readonly #bottom_bytes: Float64Array;
  readonly #since_ns: Float64Array;
  /** The pieces of each slot, one after the other. */
  readonly #pieces: number[][];
  /** The first position in `#alive` of a block that does not touch the block below it. */
  #lowestGap = Infinity;

  /** @param shown the part of the height that is drawn */
  constructor(
    readonly chosen: Int32Array,
    readonly bytes: Float64Array,
    readonly shown = { from_bytes: -Infinity, to_bytes: Infinity },
  ) {
    this.#bottom_bytes = new Float64Array(chosen.length);
    this.#since_ns = new Float64Array(chosen.length);
    this.#pieces = Array.from(chosen, () => []);
  }

  add(slot: number, time_ns: number): void {
    const at = countBefore(this.#alive, slot);
    const above = this.#alive[at];
    this.#since_ns[slot] = time_ns;
    this.#alive.splice(at, 0, slot);
    if (above === undefined) {
      this.#bottom_bytes[slot] = this.total_bytes;
    } else {
      this.#bottom_bytes[slot] = this.#bottom_bytes[above]!;
      this.#lowestGap = Math.min(this.#lowestGap, at);
    }
    this.total_bytes += this.#size(slot);
  }

  remove(slot: number, time_ns: number): void {
    const at = countBefore(this.#alive, slot);
    this.#alive.splice(at, 1);
    this.#end(slot, time_ns);
    this.total_bytes -= this.#size(slot);
    this.#lowestGap = Math.min(this.#lowestGap, at);
  }

  /** Move each block down to the block below it, from `time_ns` on. */
  settle(time_ns: number): void {
    const from = this.#lowestGap;
    this.#lowestGap = Infinity;
    if (from >= this.#alive.length) {
      return;
    }
    const below = this.#alive[from - 1];
    let bottom_bytes = below === undefined ? 0 : this.#bottom_bytes[below]! + this.#size(below);
    for (let at = from; at < this.#alive.length; at++) {
      const slot = this.#alive[at]!;
      if (this.#bottom_bytes[slot] !== bottom_bytes) {
        // A block that started in the same column of pixels gets its final position at once.
        if (this.#since_ns[slot]! < time_ns) {
          this.#end(slot, time_ns);
          this.#since_ns[slot] = time_ns;
        }
        this.#bottom_bytes[slot] = bottom_bytes;
      }
      bottom_bytes += this.#size(slot);
    }
  }

  close(time_ns: number): void {
    for (const slot of this.#alive) {
      this.#end(slot, time_ns);
    }
  }

  /** The pieces, block by block, each in the order of time. */
  columns(): PieceColumns {
    const slots = [...this.#pieces.keys()].filter((slot) => this.#pieces[slot]!.length);
    const pieceStarts = new Int32Array(slots.length + 1);
    slots.forEach((slot, at) => {
      pieceStarts[at + 1] = pieceStarts[at]! + this.#pieces[slot]!.length / NUMBERS;
    });
    const column = (): Float64Array => new Float64Array(this.pieceCount);
    const [piece_from_ns, piece_to_ns, piece_bottom_bytes] = [column(), column(), column()];
    let piece = 0;
    for (const slot of slots) {
      const own = this.#pieces[slot]!;
      for (let at = 0; at < own.length; at += NUMBERS, piece++) {
        piece_from_ns[piece] = own[at]!;
        piece_to_ns[piece] = own[at + 1]!;
        piece_bottom_bytes[piece] = own[at + 2]!;
      }
    }
    const drawn = Int32Array.from(slots, (slot) => this.chosen[slot]!);
    return { drawn, pieceStarts, piece_from_ns, piece_to_ns, piece_bottom_bytes };
  }

  #size(slot: number): number {
    return this.bytes[this.chosen[slot]!]!;
  }

  /** Store a past position of a block, unless it is outside of the shown part. */
  #end(slot: number, time_ns: number): void {
    const { from_bytes, to_bytes } = this.shown;
    const [from_ns, bottom_bytes] = [this.#since_ns[slot]!, this.#bottom_bytes[slot]!];
    const isShown = bottom_bytes <= to_bytes && bottom_bytes + this.#size(slot) >= from_bytes;
    if (time_ns > from_ns && isShown) {
      this.#pieces[slot]!.push(from_ns, time_ns, bottom_bytes);
      this.pieceCount++;
    }
  }
}
