/** A tree of host time: each box's time is the sum of the boxes inside it. */
import { RowsByKey } from "../../trace/csr.ts";

export const BOX_KINDS = [
  "root",
  "group",
  "loop",
  "frame",
  "op",
  "backward",
  "grad_node",
  /** Before the first op. */
  "before",
  /** Between two ops. */
  "outside",
  /** After the last op. */
  "after",
  /** The trace's own work, outside of ops. */
  "own",
  /** Kernels outside of every op and grad node. */
  "other",
] as const;
export type BoxKind = (typeof BOX_KINDS)[number];

/** The content of a box. */
export interface BoxOf {
  readonly kind: BoxKind;
  /**
   * The first item that the box represents, in order of time: a group, a loop, a frame, an op, a
   * backward call or a grad node. -1 for the other kinds.
   */
  readonly key: number;
}

/** Boxes by number; each comes after the box that contains it. Box 0 is the root. */
export class TimeTree {
  readonly #kinds: BoxKind[] = [];
  readonly #keys: number[] = [];
  readonly #parents: number[] = [];
  readonly #total_ns: number[] = [];
  readonly #counts: number[] = [];
  #children: RowsByKey | undefined;

  constructor() {
    this.add(-1, "root", -1);
  }

  get length(): number {
    return this.#kinds.length;
  }

  /**
   * @param key as in `BoxOf`
   * @returns the box's number
   */
  add(parent: number, kind: BoxKind, key: number): number {
    this.#kinds.push(kind);
    this.#keys.push(key);
    this.#parents.push(parent);
    this.#total_ns.push(0);
    this.#counts.push(0);
    return this.length - 1;
  }

  /** Add ops, calls or groups to a box, and their time. */
  grow(box: number, self_ns: number, count = 1): void {
    this.#total_ns[box]! += self_ns;
    this.#counts[box]! += count;
  }

  /** Sum up the boxes. No box may be added after this. */
  close(): this {
    for (let box = this.length - 1; box > 0; box--) {
      this.#total_ns[this.#parents[box]!]! += this.#total_ns[box]!;
    }
    this.#children = RowsByKey.index(this.#parents, this.length);
    return this;
  }

  of(box: number): BoxOf {
    return { kind: this.#kinds[box]!, key: this.#keys[box]! };
  }

  /** The box that contains the box, -1 for the root. */
  parent(box: number): number {
    return this.#parents[box]!;
  }

  total_ns(box: number): number {
    return this.#total_ns[box]!;
  }

  /** How many ops, calls or groups the box represents. */
  count(box: number): number {
    return this.#counts[box]!;
  }

  /** Boxes directly inside, from left to right. */
  children(box: number): Int32Array {
    return this.#children!.of(box);
  }

  /** The boxes from the root to the box itself. */
  path(box: number): number[] {
    const path: number[] = [];
    for (let at = box; at >= 0; at = this.#parents[at]!) path.push(at);
    return path.reverse();
  }
}
