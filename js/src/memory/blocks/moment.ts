/** The blocks that were alive at a moment, or at the peak of a span of time. */

import { countBefore, countUntil } from "../../trace/number_order.ts";
import type { Blocks } from "./blocks.ts";
import { highestWithin } from "./events.ts";

/** The selected moment. If a span is selected, this is the moment of its peak. */
export interface Moment {
  readonly time_ns: number;
  readonly isSpan: boolean;
  /** The blocks that were alive at this moment, by start. */
  readonly alive: Int32Array;
  readonly total_bytes: number;
  /** The range of blocks that started in the span. It is empty for a single moment. */
  readonly started: { readonly first: number; readonly end: number };
}

export function momentOf(blocks: Blocks, from_ns: number, to_ns: number): Moment {
  const { start_ns } = blocks;
  const isSpan = to_ns > from_ns;
  const time_ns = isSpan ? peakWithin(blocks, from_ns, to_ns) : from_ns;
  return {
    time_ns,
    isSpan,
    alive: aliveAt(blocks, time_ns),
    total_bytes: totalAt(blocks, time_ns),
    started: isSpan
      ? { first: countBefore(start_ns, from_ns), end: countUntil(start_ns, to_ns) }
      : { first: 0, end: 0 },
  };
}

/** Blocks that were alive at a moment, by start. */
export function aliveAt(blocks: Blocks, time_ns: number): Int32Array {
  const { start_ns, end_ns } = blocks;
  const alive = new Int32Array(aliveCount(blocks, time_ns));
  const started = countUntil(start_ns, time_ns);
  for (let block = 0, count = 0; block < started; block++) {
    if (end_ns[block]! > time_ns) {
      alive[count++] = block;
    }
  }
  return alive;
}

/** How many blocks were alive at a moment. */
export function aliveCount({ start_ns, events }: Blocks, time_ns: number): number {
  // All blocks that have started, minus all that have ended.
  return 2 * countUntil(start_ns, time_ns) - countUntil(events.times_ns, time_ns);
}

/** Bytes that were alive at a moment. */
export function totalAt({ events }: Blocks, time_ns: number): number {
  const at = countUntil(events.times_ns, time_ns) - 1;
  return at >= 0 ? events.total_bytes[at]! : 0;
}

/** The moment in a span at which the most bytes were alive; the first one if there are several. */
export function peakWithin(blocks: Blocks, from_ns: number, to_ns: number): number {
  const { events } = blocks;
  const { times_ns, total_bytes } = events;
  const at = highestWithin(events, countUntil(times_ns, from_ns), countUntil(times_ns, to_ns));
  return at >= 0 && total_bytes[at]! > totalAt(blocks, from_ns) ? times_ns[at]! : from_ns;
}
