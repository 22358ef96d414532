/** The blocks of one device, by start. */

import { SCOPE_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { type AliveBounds, aliveBounds } from "./alive_index.ts";
import { type Events, eventsOf } from "./events.ts";
import { EARLIER, MEMORY_KINDS } from "./kinds.ts";
import { countedSpan, unmetBytes } from "./known_totals.ts";
import { type PhaseChanges, phaseChanges } from "./phases.ts";
import { timeOrder } from "./time_order.ts";

/**
 * Blocks are known by their position here. A block is alive from its start up to, and without, its end.
 */
export interface Blocks {
  readonly place: string;
  /** Row of `allocations` by position; -1 is the sum of older memory that the trace never met. */
  readonly rows: Int32Array;
  /** Ascending; blocks from before the trace start with it. */
  readonly start_ns: Float64Array;
  /** Infinity where the block outlived the trace. */
  readonly end_ns: Float64Array;
  readonly bytes: Float64Array;
  /** Positions in MEMORY_KINDS. */
  readonly kinds: Uint8Array;
  /** 1 for each block that is a sum of several; undefined if there is none. */
  readonly isSum: Uint8Array | undefined;
  /** The kinds that occur, ascending. */
  readonly kindsMet: readonly number[];
  readonly first_ns: number;
  readonly last_ns: number;
  readonly events: Events;
  readonly phases: PhaseChanges;
  readonly bounds: AliveBounds;
}

/** Blocks of every device, that with the most memory first. */
export function blocksByPlace(trace: Trace): Blocks[] {
  const placeOf = trace.table("allocations").column("place");
  const counts = new Map<number, number>();
  for (let row = 0, from = 0; row < placeOf.length; row++) {
    // Blocks of one device mostly follow each other.
    if (row + 1 === placeOf.length || placeOf[row + 1] !== placeOf[row]) {
      counts.set(placeOf[row]!, (counts.get(placeOf[row]!) ?? 0) + row + 1 - from);
      from = row + 1;
    }
  }
  return [...counts]
    .map(([place, count]) => blocksOf(trace, place, count))
    .sort((a, b) => b.events.peak_bytes - a.events.peak_bytes);
}

function blocksOf(trace: Trace, place: number, count: number): Blocks {
  const table = trace.table("allocations");
  const startOf = table.column("start_ns");
  const endOf = table.column("end_ns");
  const bytesOf = table.column("bytes");
  const kindOf = table.column("kind");
  const unmet_bytes = unmetBytes(trace, place);
  const earlier = Number(unmet_bytes > 0);
  const rows = rowsByStart(trace, place, count, earlier);
  const start_ns = new Float64Array(rows.length);
  const end_ns = new Float64Array(rows.length);
  const bytes = new Float64Array(rows.length);
  const kinds = new Uint8Array(rows.length);
  if (earlier) {
    end_ns[0] = Infinity;
    bytes[0] = unmet_bytes;
    kinds[0] = EARLIER;
  }
  const isMet = new Uint8Array(MEMORY_KINDS.length);
  isMet[EARLIER] = earlier;
  const counted = countedSpan(trace, place);
  let first_ns = counted?.from_ns ?? 0;
  let last_ns = counted?.to_ns ?? Math.max(1, trace.origin.duration_ns);
  for (let at = earlier; at < rows.length; at++) {
    const row = rows[at]!;
    const from_ns = startOf[row]!;
    const to_ns = endOf[row]!;
    const size_bytes = bytesOf[row]!;
    const kind = kindOf[row]!;
    const own_ns = from_ns > 0 ? from_ns : 0;
    start_ns[at] = own_ns;
    if (to_ns >= 0) {
      const stop_ns = to_ns > own_ns ? to_ns : own_ns;
      end_ns[at] = stop_ns;
      if (stop_ns > last_ns) last_ns = stop_ns;
    } else {
      end_ns[at] = Infinity;
    }
    bytes[at] = size_bytes > 0 ? size_bytes : 0;
    kinds[at] = kind;
    isMet[kind] = 1;
    if (own_ns > last_ns) last_ns = own_ns;
    if (from_ns >= 0 && own_ns < first_ns) first_ns = own_ns;
  }
  // Nothing is known of the time before memory was recorded.
  for (let at = 0; at < start_ns.length && start_ns[at]! < first_ns; at++) {
    start_ns[at] = first_ns;
  }
  return {
    place: trace.text(place),
    rows,
    start_ns,
    end_ns,
    bytes,
    kinds,
    isSum: sumsAmong(trace, rows),
    kindsMet: [...isMet.keys()].filter((kind) => isMet[kind]),
    first_ns,
    last_ns,
    events: eventsOf(start_ns, end_ns, { bytes, kinds }),
    phases: phaseChanges(trace, rows, start_ns),
    bounds: aliveBounds(start_ns, end_ns, bytes),
  };
}

function sumsAmong(trace: Trace, rows: Int32Array): Uint8Array | undefined {
  const kindOf = trace.table("scopes").column("kind");
  const sum = SCOPE_KINDS.indexOf("sum");
  if (!kindOf.includes(sum)) {
    return undefined;
  }
  const scopeOf = trace.table("allocations").column("scope");
  return Uint8Array.from(rows, (row) => Number(kindOf[scopeOf[row] ?? -1] === sum));
}

/** Rows of one device's blocks by start, after `room` that are -1. */
function rowsByStart(trace: Trace, place: number, count: number, room: number): Int32Array {
  const placeOf = trace.table("allocations").column("place");
  const startOf = trace.table("allocations").column("start_ns");
  const rows = new Int32Array(count + room).fill(-1);
  let isSorted = true;
  let last_ns = 0;
  for (let row = 0, at = room; row < placeOf.length; row++) {
    if (placeOf[row] === place) {
      rows[at++] = row;
      // Those from before the trace start with it.
      const start_ns = startOf[row]! > 0 ? startOf[row]! : 0;
      if (start_ns < last_ns) isSorted = false;
      last_ns = start_ns;
    }
  }
  if (isSorted) {
    return rows;
  }
  const own = rows.slice(room);
  const order = timeOrder(Float64Array.from(own, (row) => Math.max(0, startOf[row]!)));
  for (let at = 0; at < count; at++) {
    rows[at + room] = own[order[at]!]!;
  }
  return rows;
}
