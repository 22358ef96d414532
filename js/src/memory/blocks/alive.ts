/** Which blocks were alive: at the cost of those that were, not of all. */
import type { Blocks } from "./blocks.ts";
import { countUntil } from "./time_order.ts";

/** Blocks that were alive at a moment, by start. */
export function aliveAt(blocks: Blocks, time_ns: number): Int32Array {
  const { end_ns, index } = blocks;
  const alive = new Int32Array(aliveCount(blocks, time_ns));
  let count = 0;
  index.search(
    countUntil(blocks.start_ns, time_ns),
    { after_ns: time_ns, least_bytes: 0, least_ns: 0 },
    (first, end) => {
      for (let block = first; block < end; block++) {
        if (end_ns[block]! > time_ns) {
          alive[count++] = block;
        }
      }
    },
  );
  return alive;
}

/** How many blocks were alive at a moment. */
export function aliveCount({ start_ns, events }: Blocks, time_ns: number): number {
  // All that started, less all that ended.
  return 2 * countUntil(start_ns, time_ns) - countUntil(events.times_ns, time_ns);
}

/** Blocks that started in a span. */
export function startedWithin(
  { start_ns }: Blocks,
  from_ns: number,
  to_ns: number,
): { first: number; end: number } {
  return { first: countUntil(start_ns, from_ns - 1), end: countUntil(start_ns, to_ns) };
}
