/** How much of each kind was alive after any event. */
import { MEMORY_KINDS } from "./kinds.ts";

/** From one known total to the next there are so many events. */
const STRIDE = 64;
const KINDS = MEMORY_KINDS.length;

export class KindTotals {
  /** Before event `i * STRIDE`: bytes by position in MEMORY_KINDS, one after the other. */
  readonly known_bytes: Float64Array;

  /**
   * @param events a block that starts, or `~block` that ends, by event
   * @param known_bytes summed up where they are not given
   */
  constructor(
    readonly events: Int32Array,
    readonly bytes: Float64Array,
    readonly kinds: Uint8Array,
    known_bytes?: Float64Array,
  ) {
    this.known_bytes = known_bytes ?? this.#knownTotals();
  }

  /** Bytes alive before event number `event`, by position in MEMORY_KINDS, into `into`. */
  before(event: number, into: Float64Array): void {
    const known = Math.floor(event / STRIDE);
    into.set(this.known_bytes.subarray(known * KINDS, (known + 1) * KINDS));
    this.#step(into, known * STRIDE, event);
  }

  #knownTotals(): Float64Array {
    const { length } = this.events;
    const known_bytes = new Float64Array((Math.floor(length / STRIDE) + 1) * KINDS);
    const now_bytes = new Float64Array(KINDS);
    for (let at = 0; at < length; at += STRIDE) {
      known_bytes.set(now_bytes, (at / STRIDE) * KINDS);
      this.#step(now_bytes, at, Math.min(length, at + STRIDE));
    }
    if (length % STRIDE === 0) {
      known_bytes.set(now_bytes, known_bytes.length - KINDS);
    }
    return known_bytes;
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
