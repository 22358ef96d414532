/** The moment that is looked at: of a span, that of its peak. */
import { aliveAt, startedWithin } from "./alive.ts";
import type { Blocks } from "./blocks.ts";
import { peakWithin, totalAt } from "./totals.ts";

export interface Moment {
  readonly time_ns: number;
  readonly isSpan: boolean;
  /** Blocks alive in it, by start. */
  readonly alive: Int32Array;
  readonly total_bytes: number;
  /** Blocks that started in the span; none where it is no span. */
  readonly started: { readonly first: number; readonly end: number };
}

export function momentOf(blocks: Blocks, from_ns: number, to_ns: number): Moment {
  const isSpan = to_ns > from_ns;
  const time_ns = isSpan ? peakWithin(blocks, from_ns, to_ns) : from_ns;
  return {
    time_ns,
    isSpan,
    alive: aliveAt(blocks, time_ns),
    total_bytes: totalAt(blocks, time_ns),
    started: isSpan ? startedWithin(blocks, from_ns, to_ns) : { first: 0, end: 0 },
  };
}
