/** Starts and ends of blocks in the order of time, and the running total of their bytes. */
import type { Blocks } from "./blocks.ts";
import { HighestEvents } from "./highest_events.ts";
import { KindTotals } from "./kind_totals.ts";
import { countBefore, countUntil, timeOrder } from "./time_order.ts";

/** Every start and every end in the order of time; at equal times ends come first. */
export interface Events {
  readonly times_ns: Float64Array;
  /** A block that starts, or `~block` that ends. */
  readonly blocks: Int32Array;
  /** Bytes alive after the event. */
  readonly total_bytes: Float64Array;
  readonly peak_bytes: number;
  readonly peak_ns: number;
  readonly highest: HighestEvents;
  readonly byKind: KindTotals;
}

export function eventsOf(
  start_ns: Float64Array,
  end_ns: Float64Array,
  bytes: Float64Array,
  kinds: Uint8Array,
): Events {
  const count = start_ns.length;
  const ended = endedBlocks(end_ns);
  const eventCount = count + ended.length;
  const times_ns = new Float64Array(eventCount);
  const blocks = new Int32Array(eventCount);
  const total_bytes = new Float64Array(eventCount);
  let peak_bytes = 0;
  let peak_ns = 0;
  let total = 0;
  let started = 0;
  let freed = 0;
  let next = ended.length ? ended[0]! : -1;
  let next_ns = next >= 0 ? end_ns[next]! : Infinity;
  for (let at = 0; at < eventCount; at++) {
    // A block that ends in the moment of its start is never alive, but has to start before it ends.
    if (started === count || (next_ns <= start_ns[started]! && next < started)) {
      total -= bytes[next]!;
      times_ns[at] = next_ns;
      blocks[at] = ~next;
      freed++;
      next = freed < ended.length ? ended[freed]! : -1;
      next_ns = next >= 0 ? end_ns[next]! : Infinity;
    } else {
      total += bytes[started]!;
      times_ns[at] = start_ns[started]!;
      blocks[at] = started;
      if (total > peak_bytes) {
        peak_bytes = total;
        peak_ns = start_ns[started]!;
      }
      started++;
    }
    total_bytes[at] = total;
  }
  return {
    times_ns,
    blocks,
    total_bytes,
    peak_bytes,
    peak_ns,
    highest: new HighestEvents(times_ns, total_bytes),
    byKind: new KindTotals(blocks, bytes, kinds),
  };
}

/** Blocks that end, from the one that ends first on. */
function endedBlocks(end_ns: Float64Array): Int32Array {
  const ended = new Int32Array(end_ns.length);
  const ends_ns = new Float64Array(end_ns.length);
  let count = 0;
  for (let block = 0; block < end_ns.length; block++) {
    if (end_ns[block]! < Infinity) {
      ended[count] = block;
      ends_ns[count++] = end_ns[block]!;
    }
  }
  const order = timeOrder(ends_ns.subarray(0, count));
  for (let at = 0; at < count; at++) {
    order[at] = ended[order[at]!]!;
  }
  return order;
}

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
