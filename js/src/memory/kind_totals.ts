/** How much of each kind was alive after any event. */
import { MEMORY_KINDS } from "./kinds.ts";

/** From one known total to the next there are so many events. */
const STRIDE = 256;
const KINDS = MEMORY_KINDS.length;

export class KindTotals {
  /** Before event `i * STRIDE`: bytes by position in MEMORY_KINDS, one after the other. */
  readonly #known_bytes: Float64Array;

  constructor(
    /** A block that starts, or `~block` that ends, by event. */
    readonly events: Int32Array,
    readonly bytes: Float64Array,
    readonly kinds: Uint8Array,
  ) {
    this.#known_bytes = new Float64Array((Math.floor(events.length / STRIDE) + 1) * KINDS);
    const now_bytes = new Float64Array(KINDS);
    for (let at = 0; at < events.length; at += STRIDE) {
      this.#known_bytes.set(now_bytes, (at / STRIDE) * KINDS);
      this.#step(now_bytes, at, Math.min(events.length, at + STRIDE));
    }
    if (events.length % STRIDE === 0) {
      this.#known_bytes.set(now_bytes, this.#known_bytes.length - KINDS);
    }
  }

  /** Bytes alive before event number `event`, by position in MEMORY_KINDS, into `into`. */
  before(event: number, into: Float64Array): void {
    const known = Math.floor(event / STRIDE);
    into.set(this.#known_bytes.subarray(known * KINDS, (known + 1) * KINDS));
    this.#step(into, known * STRIDE, event);
  }

  #step(now_bytes: Float64Array, first: number, end: number): void {
    const { events, bytes, kinds } = this;
    for (let at = first; at < end; at++) {
      const event = events[at]!;
      if (event < 0) {
        now_bytes[kinds[~event]!]! -= bytes[~event]!;
      } else {
        now_bytes[kinds[event]!]! += bytes[event]!;
      }
    }
  }
}
