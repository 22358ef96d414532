/** The blocks of one device, by start, and the running total of their bytes. */
import type { Trace } from "../model/trace.ts";
import { EARLIER } from "./kinds.ts";
import { countUntil, timeOrder } from "./time_order.ts";

/**
 * Blocks are known by their position here. A block is alive from its start up to, and without, its end.
 */
export interface Blocks {
  readonly place: string;
  /** Row of `allocations` by position; -1 is all that was there before and that the trace never met. */
  readonly rows: Int32Array;
  /** Ascending; blocks from before the trace start with it. */
  readonly start_ns: Float64Array;
  /** Infinity where the block outlived the trace. */
  readonly end_ns: Float64Array;
  readonly bytes: Float64Array;
  /** Positions in MEMORY_KINDS. */
  readonly kinds: Int32Array;
  readonly first_ns: number;
  readonly last_ns: number;
  readonly events: Events;
}

/** Every start and every end in the order of time; at equal times ends come first. */
export interface Events {
  readonly times_ns: Float64Array;
  /** A block that starts, or `~block` that ends. */
  readonly blocks: Int32Array;
  /** Bytes alive after the event. */
  readonly total_bytes: Float64Array;
  readonly peak_bytes: number;
  readonly peak_ns: number;
}

/** Blocks of every device, that with the most memory first. */
export function blocksByPlace(trace: Trace): Blocks[] {
  const table = trace.table("allocations");
  const places = new Map<number, number>();
  const placeOf = table.column("place");
  for (let row = 0, from = 0; row < placeOf.length; row++) {
    // Blocks of one device mostly follow each other.
    if (placeOf[row + 1] !== placeOf[row]) {
      places.set(placeOf[row]!, (places.get(placeOf[row]!) ?? 0) + row + 1 - from);
      from = row + 1;
    }
  }
  return [...places]
    .map(([place, count]) => blocksOf(trace, place, count))
    .sort((a, b) => b.events.peak_bytes - a.events.peak_bytes);
}

function blocksOf(trace: Trace, place: number, count: number): Blocks {
  const table = trace.table("allocations");
  const placeOf = table.column("place");
  const startOf = table.column("start_ns");
  const endOf = table.column("end_ns");
  const bytesOf = table.column("bytes");
  const kindOf = table.column("kind");
  const unmet_bytes = unmetBytes(trace, place);
  const own = new Int32Array(count);
  for (let row = 0, at = 0; row < table.length; row++) {
    if (placeOf[row] === place) {
      own[at++] = row;
    }
  }
  const starts_ns = new Float64Array(count);
  for (let at = 0; at < count; at++) {
    starts_ns[at] = Math.max(0, startOf[own[at]!]!);
  }
  const order = timeOrder(starts_ns);
  const earlier = Number(unmet_bytes > 0);
  const rows = new Int32Array(count + earlier).fill(-1);
  for (let at = 0; at < count; at++) {
    rows[at + earlier] = own[order[at]!]!;
  }
  const start_ns = new Float64Array(rows.length);
  const end_ns = new Float64Array(rows.length).fill(Infinity);
  const bytes = new Float64Array(rows.length).fill(unmet_bytes);
  const kinds = new Int32Array(rows.length).fill(EARLIER);
  const counted = countedSpan(trace, place);
  let first_ns = counted?.from_ns ?? 0;
  let last_ns = counted?.to_ns ?? Math.max(1, trace.origin.duration_ns);
  for (let at = earlier; at < rows.length; at++) {
    const row = rows[at]!;
    start_ns[at] = Math.max(0, startOf[row]!);
    end_ns[at] = endOf[row]! < 0 ? Infinity : Math.max(start_ns[at]!, endOf[row]!);
    bytes[at] = Math.max(0, bytesOf[row]!);
    kinds[at] = kindOf[row]!;
    last_ns = Math.max(last_ns, start_ns[at]!, end_ns[at] === Infinity ? 0 : end_ns[at]!);
    if (startOf[row]! >= 0) {
      first_ns = Math.min(first_ns, start_ns[at]!);
    }
  }
  // Nothing is known of the time before memory was recorded.
  for (let at = 0; at < start_ns.length && start_ns[at]! < first_ns; at++) {
    start_ns[at] = first_ns;
  }
  const events = eventsOf(start_ns, end_ns, bytes);
  const text = trace.text(place);
  return { place: text, rows, start_ns, end_ns, bytes, kinds, first_ns, last_ns, events };
}

/** From the first to the last time that Paddle's counters were read. */
function countedSpan(trace: Trace, place: number): { from_ns: number; to_ns: number } | undefined {
  const placeOf = trace.table("memory_totals").column("place");
  const times_ns = trace.table("memory_totals").column("time_ns");
  const [first, last] = [placeOf.indexOf(place), placeOf.lastIndexOf(place)];
  if (last <= first) {
    return undefined;
  }
  const from_ns = times_ns[first]!;
  // After an error the notebook writes the traceback, which may take longer than the cell did.
  const to_ns = trace.origin.exception ? lastOpEnd(trace) : Infinity;
  return { from_ns, to_ns: Math.max(from_ns + 1, Math.min(times_ns[last]!, to_ns)) };
}

function lastOpEnd(trace: Trace): number {
  const ops = trace.table("ops");
  const [startOf, durationOf] = [ops.column("start_ns"), ops.column("duration_ns")];
  let last_ns = 0;
  for (let op = 0; op < startOf.length; op++) {
    last_ns = Math.max(last_ns, startOf[op]! + durationOf[op]!);
  }
  return last_ns;
}

/** What Paddle's counter held when the trace began, less the blocks from before that it met. */
function unmetBytes(trace: Trace, place: number): number {
  const totals = trace.table("memory_totals");
  const first = totals.column("place").indexOf(place);
  if (first < 0) {
    return 0;
  }
  let met_bytes = 0;
  const table = trace.table("allocations");
  const placeOf = table.column("place");
  const bytesOf = table.column("bytes");
  table.column("start_ns").forEach((start_ns, row) => {
    if (start_ns < 0 && placeOf[row] === place) {
      met_bytes += bytesOf[row]!;
    }
  });
  return Math.max(0, totals.column("allocated_bytes")[first]! - met_bytes);
}

function eventsOf(start_ns: Float64Array, end_ns: Float64Array, bytes: Float64Array): Events {
  const count = start_ns.length;
  const ended = new Int32Array(count);
  let endedCount = 0;
  for (let block = 0; block < count; block++) {
    if (end_ns[block]! < Infinity) {
      ended[endedCount++] = block;
    }
  }
  const ends_ns = new Float64Array(endedCount);
  for (let i = 0; i < endedCount; i++) {
    ends_ns[i] = end_ns[ended[i]!]!;
  }
  const byEnd = timeOrder(ends_ns);
  const times_ns = new Float64Array(count + endedCount);
  const blocks = new Int32Array(count + endedCount);
  const total_bytes = new Float64Array(count + endedCount);
  let peak_bytes = 0;
  let peak_ns = 0;
  let total = 0;
  for (let at = 0, started = 0, freed = 0; at < times_ns.length; at++) {
    const next = freed < endedCount ? ended[byEnd[freed]!]! : -1;
    // A block that ends in the moment of its start is never alive, but has to start before it ends.
    const isEnd =
      next >= 0 && (started === count || (end_ns[next]! <= start_ns[started]! && next < started));
    const block = isEnd ? next : started;
    times_ns[at] = isEnd ? end_ns[next]! : start_ns[started]!;
    blocks[at] = isEnd ? ~next : started;
    total += isEnd ? -bytes[block]! : bytes[block]!;
    total_bytes[at] = total;
    if (isEnd) {
      freed++;
    } else {
      started++;
      if (total > peak_bytes) {
        peak_bytes = total;
        peak_ns = times_ns[at]!;
      }
    }
  }
  return { times_ns, blocks, total_bytes, peak_bytes, peak_ns };
}

/** Bytes that were alive at a moment. */
export function totalAt({ events }: Blocks, time_ns: number): number {
  const at = countUntil(events.times_ns, time_ns) - 1;
  return at >= 0 ? events.total_bytes[at]! : 0;
}

/** Blocks that were alive at a moment, by start. */
export function aliveAt({ start_ns, end_ns }: Blocks, time_ns: number): Int32Array {
  const started = countUntil(start_ns, time_ns);
  const alive = new Int32Array(started);
  let count = 0;
  for (let block = 0; block < started; block++) {
    if (end_ns[block]! > time_ns) {
      alive[count++] = block;
    }
  }
  return alive.slice(0, count);
}

/** The moment of a span in which the most was alive, the first of equals. */
export function peakWithin(blocks: Blocks, from_ns: number, to_ns: number): number {
  const { times_ns, total_bytes } = blocks.events;
  let peak_ns = from_ns;
  let peak_bytes = totalAt(blocks, from_ns);
  const end = countUntil(times_ns, to_ns);
  for (let at = countUntil(times_ns, from_ns); at < end; at++) {
    // Of several events in one moment the last tells what was alive.
    const isLast = at + 1 === times_ns.length || times_ns[at + 1] !== times_ns[at];
    if (isLast && total_bytes[at]! > peak_bytes) {
      peak_bytes = total_bytes[at]!;
      peak_ns = times_ns[at]!;
    }
  }
  return peak_ns;
}

/** The highest total of each of some columns of equal width, over the whole run. */
export function totalColumns(
  { events, first_ns, last_ns }: Blocks,
  count: number,
): { times_ns: Float64Array; total_bytes: Float64Array } {
  const width_ns = (last_ns - first_ns) / count;
  const times_ns = new Float64Array(count + 1).map((_, at) => first_ns + at * width_ns);
  const total_bytes = new Float64Array(count + 1);
  let total = 0;
  for (let column = 0, at = 0; column <= count; column++) {
    const until_ns = times_ns[column]! + width_ns;
    let most = total;
    for (; at < events.times_ns.length && events.times_ns[at]! < until_ns; at++) {
      total = events.total_bytes[at]!;
      most = Math.max(most, total);
    }
    total_bytes[column] = most;
  }
  return { times_ns, total_bytes };
}

/** Blocks that started in a span. */
export function startedWithin(
  { start_ns }: Blocks,
  from_ns: number,
  to_ns: number,
): { first: number; end: number } {
  return { first: countUntil(start_ns, from_ns - 1), end: countUntil(start_ns, to_ns) };
}
