/** The starts and ends of blocks in the order of time, and the bytes that are alive after each. */
import { numberOrder } from "../../trace/number_order.ts";

/** All starts and ends in the order of time. At equal times, ends come before starts. */
export interface Events {
  readonly times_ns: Float64Array;
  /** The number of a block that starts, or `~block` for a block that ends. */
  readonly blocks: Int32Array;
  /** Bytes alive after the event. */
  readonly total_bytes: Float64Array;
  readonly peak_bytes: number;
  readonly peak_ns: number;
}

export function eventsOf(
  start_ns: Float64Array,
  end_ns: Float64Array,
  bytes: Float64Array,
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
  for (let at = 0; at < eventCount; at++) {
    const next = freed < ended.length ? ended[freed]! : -1;
    const next_ns = next >= 0 ? end_ns[next]! : Infinity;
    // A block that ends when it starts is never alive. But its start must come before its end.
    if (started === count || (next_ns <= start_ns[started]! && next < started)) {
      total -= bytes[next]!;
      times_ns[at] = next_ns;
      blocks[at] = ~next;
      freed++;
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
  return { times_ns, blocks, total_bytes, peak_bytes, peak_ns };
}

/**
 * The first of the highest events in `[first, end)`, -1 if there is none. If several events have
 * the same time, only the last one counts, because it has the bytes alive after that time.
 */
export function highestWithin(
  { times_ns, total_bytes }: Events,
  first: number,
  end: number,
): number {
  let best = -1;
  for (let at = first; at < end; at++) {
    // After the last event the time is undefined, which differs from every time.
    const isLast = times_ns[at + 1] !== times_ns[at];
    if (isLast && (best < 0 || total_bytes[at]! > total_bytes[best]!)) {
      best = at;
    }
  }
  return best;
}

/** The blocks that end, ordered by their ends. */
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
  return numberOrder(ends_ns.subarray(0, count)).map((at) => ended[at]!);
}
