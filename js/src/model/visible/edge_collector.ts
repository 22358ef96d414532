/** Gathers edges between boxes: one row per pair of boxes, numbered by a hash table of integers. */

/** Edges as columns; one row per pair of boxes. */
export interface VisibleEdges {
  readonly length: number;
  /** Positions in the tree's items. */
  readonly source: Int32Array;
  readonly target: Int32Array;
  /** The first tensor, or -1. */
  readonly tensor: Int32Array;
  /** String code of the first tensor's shape. */
  readonly shape: Int32Array;
  /** How many different tensors, or gradients, flow. */
  readonly count: Int32Array;
  /** 1 where no gradient can flow along any of them. */
  readonly isDetached: Uint8Array;
  /** The rows of `grad_edges` that each edge stands for; none for edges of tensors. */
  readonly gradEdges: readonly (readonly number[])[];
}

/** String code of "". */
export const NO_SHAPE = 0;
const EMPTY = -1;
/** Shared by all rows without gradient edges; never modified. */
const NO_EDGES: number[] = [];

export class EdgeCollector {
  readonly #source: number[] = [];
  readonly #target: number[] = [];
  readonly #tensor: number[] = [];
  readonly #shape: number[] = [];
  readonly #count: number[] = [];
  readonly #isDetached: number[] = [];
  readonly #gradEdges: number[][] = [];
  /** The row of the pair in each slot. If a slot is taken by another pair, the next one is tried. */
  #slots: Int32Array;

  /** @param expected the approximate number of edges that will be added */
  constructor(expected: number) {
    this.#slots = emptySlots(2 * expected);
  }

  add(
    source: number,
    target: number,
    tensor: number,
    shape: number,
    isDetached: boolean,
    gradEdge = -1,
  ): void {
    if (source < 0 || target < 0 || source === target) {
      return;
    }
    const slot = this.#slotOf(source, target);
    const row = this.#slots[slot]!;
    if (row === EMPTY) {
      this.#slots[slot] = this.#source.push(source) - 1;
      this.#target.push(target);
      this.#tensor.push(tensor);
      this.#shape.push(shape);
      this.#count.push(1);
      this.#isDetached.push(isDetached ? 1 : 0);
      this.#gradEdges.push(gradEdge >= 0 ? [gradEdge] : NO_EDGES);
      this.#growIfFull();
      return;
    }
    if (gradEdge >= 0) {
      this.#gradEdges[row]!.push(gradEdge);
    }
    if (!isDetached) {
      this.#isDetached[row] = 0;
    }
    // The same tensor read by two ops of one box is one line.
    if (tensor < 0 || tensor !== this.#tensor[row]) {
      this.#count[row]!++;
    }
  }

  finish(): VisibleEdges {
    return {
      length: this.#source.length,
      source: Int32Array.from(this.#source),
      target: Int32Array.from(this.#target),
      tensor: Int32Array.from(this.#tensor),
      shape: Int32Array.from(this.#shape),
      count: Int32Array.from(this.#count),
      isDetached: Uint8Array.from(this.#isDetached),
      gradEdges: this.#gradEdges,
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

  #growIfFull(): void {
    if (2 * this.#source.length < this.#slots.length) {
      return;
    }
    this.#slots = emptySlots(2 * this.#slots.length);
    this.#source.forEach((source, row) => {
      this.#slots[this.#slotOf(source, this.#target[row]!)] = row;
    });
  }
}

function emptySlots(least: number): Int32Array {
  return new Int32Array(2 ** Math.ceil(Math.log2(Math.max(16, least)))).fill(EMPTY);
}
