/** Numbers distinct pairs in the order in which they are first met: a hash table of integers alone. */

const EMPTY = -1;

export class PairRows {
  #source: Int32Array;
  #target: Int32Array;
  /** Row of the pair in each slot; the next slots are tried where another has the place. */
  #slots: Int32Array;
  #length = 0;

  /** @param expected pairs that are asked for, about */
  constructor(expected: number) {
    const slots = 2 ** Math.ceil(Math.log2(2 * Math.max(8, expected)));
    this.#slots = new Int32Array(slots).fill(EMPTY);
    this.#source = new Int32Array(slots / 2);
    this.#target = new Int32Array(slots / 2);
  }

  get length(): number {
    return this.#length;
  }

  /** The pair's row: `length` before the call where it is new. */
  rowOf(source: number, target: number): number {
    if (2 * this.#length >= this.#slots.length) {
      this.#grow();
    }
    const slot = this.#slotOf(source, target);
    const known = this.#slots[slot]!;
    if (known !== EMPTY) {
      return known;
    }
    this.#slots[slot] = this.#length;
    this.#source[this.#length] = source;
    this.#target[this.#length] = target;
    return this.#length++;
  }

  pairs(): { readonly source: Int32Array; readonly target: Int32Array } {
    return {
      source: this.#source.slice(0, this.#length),
      target: this.#target.slice(0, this.#length),
    };
  }

  #slotOf(source: number, target: number): number {
    const last = this.#slots.length - 1;
    const mixed = Math.imul(source, 0x9e3779b1) ^ Math.imul(target, 0x85ebca6b);
    let slot = (mixed ^ (mixed >>> 15)) & last;
    for (;;) {
      const row = this.#slots[slot]!;
      if (row === EMPTY || (this.#source[row] === source && this.#target[row] === target)) {
        return slot;
      }
      slot = (slot + 1) & last;
    }
  }

  #grow(): void {
    const { source, target } = this.pairs();
    this.#slots = new Int32Array(2 * this.#slots.length).fill(EMPTY);
    this.#source = new Int32Array(this.#slots.length / 2);
    this.#target = new Int32Array(this.#slots.length / 2);
    this.#source.set(source);
    this.#target.set(target);
    for (let row = 0; row < source.length; row++) {
      this.#slots[this.#slotOf(source[row]!, target[row]!)] = row;
    }
  }
}
