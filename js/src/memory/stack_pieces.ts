/** Where the blocks of a stack lie, and how they sink. */

export interface PieceColumns {
  /** Pieces of the drawn block `i` are `pieceStarts[i] … pieceStarts[i + 1]`: where it lay, and when. */
  readonly pieceStarts: Int32Array;
  readonly piece_from_ns: Float64Array;
  readonly piece_to_ns: Float64Array;
  readonly piece_bottom_bytes: Float64Array;
}

/** The blocks that lie on each other at a moment. */
export class Stack {
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

export class Pieces {
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
  sorted(): PieceColumns {
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
