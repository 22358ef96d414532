/** Starts and ends of blocks in the order of time, and what is alive after each. */
import { MEMORY_KINDS } from "./kinds.ts";
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
  /** Of each 64 events the highest, -1 where none counts. */
  readonly highest: Int32Array;
  /** Before each 64 events: bytes by position in MEMORY_KINDS, one after the other. */
  readonly known_bytes: Float64Array;
}

/** The blocks that events are of. */
interface Sizes {
  readonly bytes: Float64Array;
  readonly kinds: Uint8Array;
}

/** So many events are summed up together. */
const CHUNK = 64;
const KINDS = MEMORY_KINDS.length;

export function eventsOf(start_ns: Float64Array, end_ns: Float64Array, sizes: Sizes): Events {
  const { bytes } = sizes;
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
    // A block that ends in the moment of its start is never alive, but has to start before it ends.
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
  const events = { times_ns, blocks, total_bytes, peak_bytes, peak_ns };
  return { ...events, highest: highestOfChunks(events), known_bytes: knownBytes(blocks, sizes) };
}

/**
 * The first of the highest events in `[first, end)`, -1 where there is none. Of several in one moment
 * the last alone counts: it tells what was alive then.
 */
export function highestWithin(events: Events, first: number, end: number): number {
  const { highest, total_bytes } = events;
  const firstChunk = Math.ceil(first / CHUNK);
  const endChunk = Math.floor(end / CHUNK);
  if (endChunk <= firstChunk) {
    return highestOf(events, first, end, -1);
  }
  let best = highestOf(events, first, firstChunk * CHUNK, -1);
  for (let chunk = firstChunk; chunk < endChunk; chunk++) {
    const at = highest[chunk]!;
    if (best < 0 || (at >= 0 && total_bytes[at]! > total_bytes[best]!)) {
      best = at;
    }
  }
  return highestOf(events, endChunk * CHUNK, end, best);
}

/** Bytes alive before event number `event`, by position in MEMORY_KINDS, into `into`. */
export function kindsBefore(
  { blocks, known_bytes }: Events,
  sizes: Sizes,
  event: number,
  into: Float64Array,
): void {
  const known = Math.floor(event / CHUNK);
  into.set(known_bytes.subarray(known * KINDS, (known + 1) * KINDS));
  addChanges(into, blocks, sizes, known * CHUNK, event);
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
  return timeOrder(ends_ns.subarray(0, count)).map((at) => ended[at]!);
}

type Totals = Pick<Events, "times_ns" | "total_bytes">;

function highestOfChunks(events: Totals): Int32Array {
  const { length } = events.times_ns;
  const highest = new Int32Array(Math.ceil(length / CHUNK));
  for (let chunk = 0; chunk < highest.length; chunk++) {
    const first = chunk * CHUNK;
    highest[chunk] = highestOf(events, first, Math.min(length, first + CHUNK), -1);
  }
  return highest;
}

/** @param known the highest event before `first`, which stays it where no other is higher */
function highestOf(
  { times_ns, total_bytes }: Totals,
  first: number,
  end: number,
  known: number,
): number {
  let best = known;
  for (let at = first; at < end; at++) {
    // Past the last event there is no time, which equals none.
    const isLast = times_ns[at + 1] !== times_ns[at];
    if (isLast && (best < 0 || total_bytes[at]! > total_bytes[best]!)) {
      best = at;
    }
  }
  return best;
}

function knownBytes(events: Int32Array, sizes: Sizes): Float64Array {
  const chunks = Math.floor(events.length / CHUNK) + 1;
  const known_bytes = new Float64Array(chunks * KINDS);
  const now_bytes = new Float64Array(KINDS);
  for (let chunk = 0; chunk < chunks; chunk++) {
    known_bytes.set(now_bytes, chunk * KINDS);
    const end = Math.min(events.length, (chunk + 1) * CHUNK);
    addChanges(now_bytes, events, sizes, chunk * CHUNK, end);
  }
  return known_bytes;
}

function addChanges(
  now_bytes: Float64Array,
  events: Int32Array,
  { bytes, kinds }: Sizes,
  first: number,
  end: number,
): void {
  for (let at = first; at < end; at++) {
    const event = events[at]!;
    if (event < 0) {
      now_bytes[kinds[~event]!]! -= bytes[~event]!;
    } else {
      now_bytes[kinds[event]!]! += bytes[event]!;
    }
  }
}
