/** Where the blocks of a stack lie, and how they sink. */

export interface PieceColumns {
  /** Blocks that have pieces, from the bottom up. */
  readonly drawn: Int32Array;
  /** Pieces of the drawn block `i` are `pieceStarts[i] … pieceStarts[i + 1]`: where it lay, and when. */
  readonly pieceStarts: Int32Array;
  readonly piece_from_ns: Float64Array;
  readonly piece_to_ns: Float64Array;
  readonly piece_bottom_bytes: Float64Array;
}

/** The blocks that lie on each other at a moment; each is known by its position from the bottom. */
export class Stack {
  total_bytes = 0;
  /** Ascending. */
  readonly #alive: number[] = [];
  readonly #bottom_bytes: Float64Array;
  readonly #since_ns: Float64Array;
  /** Position in `#alive` from which on blocks do not lie on the one below. */
  #lowestGap = Infinity;

  constructor(
    readonly chosen: Int32Array,
    readonly bytes: Float64Array,
    readonly pieces: Pieces,
  ) {
    this.#bottom_bytes = new Float64Array(chosen.length);
    this.#since_ns = new Float64Array(chosen.length);
  }

  add(slot: number, time_ns: number): void {
    const at = this.#positionOf(slot);
    const above = this.#alive[at];
    this.#since_ns[slot] = time_ns;
    if (above === undefined) {
      this.#alive.push(slot);
      this.#bottom_bytes[slot] = this.total_bytes;
    } else {
      this.#alive.splice(at, 0, slot);
      this.#bottom_bytes[slot] = this.#bottom_bytes[above]!;
      this.#lowestGap = Math.min(this.#lowestGap, at);
    }
    this.total_bytes += this.#size(slot);
  }

  remove(slot: number, time_ns: number): void {
    const at = this.#positionOf(slot);
    this.#alive.splice(at, 1);
    this.#end(slot, time_ns);
    this.total_bytes -= this.#size(slot);
    this.#lowestGap = Math.min(this.#lowestGap, at);
  }

  /** Let each block lie on the one below it, as of `time_ns`. */
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
        // A block that came within the same column lies where it will stay.
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

  #size(slot: number): number {
    return this.bytes[this.chosen[slot]!]!;
  }

  #end(slot: number, time_ns: number): void {
    if (time_ns > this.#since_ns[slot]!) {
      const bottom_bytes = this.#bottom_bytes[slot]!;
      this.pieces.add(slot, this.#since_ns[slot]!, time_ns, bottom_bytes, this.#size(slot));
    }
  }

  /** Where a block is among the living, or would be. */
  #positionOf(slot: number): number {
    let low = 0;
    let high = this.#alive.length;
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

/** What is drawn of the stack. */
export class Pieces {
  readonly #slots: number[] = [];
  readonly #from_ns: number[] = [];
  readonly #to_ns: number[] = [];
  readonly #bottom_bytes: number[] = [];

  constructor(
    readonly slotCount: number,
    readonly shown = { from_bytes: -Infinity, to_bytes: Infinity },
  ) {}

  get count(): number {
    return this.#slots.length;
  }

  /** Take a piece, unless it lies where nothing is shown. */
  add(slot: number, from_ns: number, to_ns: number, bottom_bytes: number, bytes: number): void {
    if (bottom_bytes <= this.shown.to_bytes && bottom_bytes + bytes >= this.shown.from_bytes) {
      this.#slots.push(slot);
      this.#from_ns.push(from_ns);
      this.#to_ns.push(to_ns);
      this.#bottom_bytes.push(bottom_bytes);
    }
  }

  /**
   * Pieces block by block, each in the order of time.
   *
   * @param chosen the block of each slot
   */
  sorted(chosen: Int32Array): PieceColumns {
    const next = new Int32Array(this.slotCount + 1);
    for (const slot of this.#slots) {
      next[slot + 1]!++;
    }
    const drawn: number[] = [];
    const pieceStarts = [0];
    for (let slot = 0; slot < this.slotCount; slot++) {
      const isDrawn = next[slot + 1]! > 0;
      next[slot + 1]! += next[slot]!;
      if (isDrawn) {
        drawn.push(chosen[slot]!);
        pieceStarts.push(next[slot + 1]!);
      }
    }
    const piece_from_ns = new Float64Array(this.count);
    const piece_to_ns = new Float64Array(this.count);
    const piece_bottom_bytes = new Float64Array(this.count);
    for (let piece = 0; piece < this.count; piece++) {
      const at = next[this.#slots[piece]!]!++;
      piece_from_ns[at] = this.#from_ns[piece]!;
      piece_to_ns[at] = this.#to_ns[piece]!;
      piece_bottom_bytes[at] = this.#bottom_bytes[piece]!;
    }
    return {
      drawn: Int32Array.from(drawn),
      pieceStarts: Int32Array.from(pieceStarts),
      piece_from_ns,
      piece_to_ns,
      piece_bottom_bytes,
    };
  }
}
