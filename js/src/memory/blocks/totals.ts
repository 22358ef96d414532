/** How many bytes were alive: at a moment, at most in a span, and over the whole run. */
import type { Blocks } from "./blocks.ts";
import { countBefore, countUntil } from "./time_order.ts";

/** Bytes that were alive at a moment. */
export function totalAt({ events }: Blocks, time_ns: number): number {
  const at = countUntil(events.times_ns, time_ns) - 1;
  return at >= 0 ? events.total_bytes[at]! : 0;
}

/** The moment of a span in which the most was alive, the first of equals. */
export function peakWithin(blocks: Blocks, from_ns: number, to_ns: number): number {
  const { times_ns, total_bytes, highest } = blocks.events;
  const first = countUntil(times_ns, from_ns);
  const at = highest.within(first, countUntil(times_ns, to_ns));
  return at >= 0 && total_bytes[at]! > totalAt(blocks, from_ns) ? times_ns[at]! : from_ns;
}

/** The highest total of each of some columns of equal width, over the whole run. */
export function totalColumns(
  { events, first_ns, last_ns }: Blocks,
  count: number,
): { times_ns: Float64Array; total_bytes: Float64Array } {
  const width_ns = (last_ns - first_ns) / count;
  const times_ns = new Float64Array(count + 1).map((_, at) => first_ns + at * width_ns);
  const total_bytes = new Float64Array(count + 1);
  for (let column = 0, at = 0; column <= count; column++) {
    const end = countBefore(events.times_ns, times_ns[column]! + width_ns, at);
    const before = at > 0 ? events.total_bytes[at - 1]! : 0;
    const highest = events.highest.within(at, end);
    total_bytes[column] = highest < 0 ? before : Math.max(before, events.total_bytes[highest]!);
    at = end;
  }
  return { times_ns, total_bytes };
}
