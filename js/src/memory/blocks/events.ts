/** Starts and ends of blocks in the order of time, and the running total of their bytes. */
import { HighestEvents } from "./highest_events.ts";
import { KindTotals } from "./kind_totals.ts";
import { timeOrder } from "./time_order.ts";

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
