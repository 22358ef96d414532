/** The blocks of a device, by start. */

import type { Column } from "../../trace/columns.ts";
import { numberOrder } from "../../trace/number_order.ts";
import { SCOPE_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { type Events, eventsOf } from "./events.ts";
import { EARLIER, MEMORY_KINDS } from "./kinds.ts";
import { countedSpan, unmetBytes } from "./known_totals.ts";
import { type PhaseChanges, phaseChanges } from "./phases.ts";

/**
 * The number of a block is its position here. A block is alive from its start until just before its
 * end.
 */
export interface Blocks {
  readonly place: string;
  /**
   * Row of each block in `allocations`; -1 for the sum of older memory that no block of the trace
   * contains.
   */
  readonly rows: Int32Array;
  /** Ascending. A block from before the trace begins at the start of the trace. */
  readonly start_ns: Float64Array;
  /** Infinity if the block outlived the trace. */
  readonly end_ns: Float64Array;
  readonly bytes: Float64Array;
  /** Positions in MEMORY_KINDS. */
  readonly kinds: Uint8Array;
  /** 1 for each block that is a sum of several; undefined if no block is. */
  readonly isSum: Uint8Array | undefined;
  /** The kinds that the blocks have, ascending. */
  readonly kindsMet: readonly number[];
  readonly first_ns: number;
  readonly last_ns: number;
  readonly events: Events;
  readonly phases: PhaseChanges;
}

/** The blocks of each device. The device with the most memory comes first. */
export function blocksByPlace(trace: Trace): Blocks[] {
  const rows = new Map<number, number[]>();
  trace
    .table("allocations")
    .column("place")
    .forEach((place, row) => {
      const own = rows.get(place);
      if (own) own.push(row);
      else rows.set(place, [row]);
    });
  return [...rows]
    .map(([place, own]) => blocksOf(trace, place, own))
    .sort((a, b) => b.events.peak_bytes - a.events.peak_bytes);
}

/** @param own rows of the device in `allocations` */
function blocksOf(trace: Trace, place: number, own: readonly number[]): Blocks {
  const [startOf, endOf, bytesOf, kindOf] = trace.columns(
    "allocations",
    "start_ns",
    "end_ns",
    "bytes",
    "kind",
  );
  const unmet_bytes = unmetBytes(trace, place);
  const rows = rowsByStart(own, startOf, unmet_bytes > 0);
  const isMet = new Uint8Array(MEMORY_KINDS.length);
  const counted = countedSpan(trace, place);
  let first_ns = counted?.from_ns ?? 0;
  let last_ns = counted?.to_ns ?? Math.max(1, trace.origin.duration_ns);
  const start_ns = new Float64Array(rows.length);
  const end_ns = new Float64Array(rows.length).fill(Infinity);
  const bytes = new Float64Array(rows.length);
  const kinds = new Uint8Array(rows.length);
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!;
    const kind = row < 0 ? EARLIER : kindOf[row]!;
    kinds[at] = kind;
    isMet[kind] = 1;
    if (row < 0) {
      bytes[at] = unmet_bytes;
      continue;
    }
    bytes[at] = Math.max(0, bytesOf[row]!);
    const from_ns = Math.max(0, startOf[row]!);
    start_ns[at] = from_ns;
    last_ns = Math.max(last_ns, from_ns);
    if (startOf[row]! >= 0) {
      first_ns = Math.min(first_ns, from_ns);
    }
    if (endOf[row]! >= 0) {
      end_ns[at] = Math.max(from_ns, endOf[row]!);
      last_ns = Math.max(last_ns, end_ns[at]!);
    }
  }
  // It is not known what happened before memory was recorded.
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
    events: eventsOf(start_ns, end_ns, bytes),
    phases: phaseChanges(trace, rows, start_ns),
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

/** Rows by start. The first is -1 if there is older memory that no block of the trace contains. */
function rowsByStart(own: readonly number[], startOf: Column, hasUnmet: boolean): Int32Array {
  // A block from before the trace begins at the start of the trace.
  const start_ns = new Float64Array(own.length);
  own.forEach((row, at) => {
    start_ns[at] = Math.max(0, startOf[row]!);
  });
  const rows = new Int32Array(own.length + Number(hasUnmet)).fill(-1);
  numberOrder(start_ns).forEach((at, position) => {
    rows[position + Number(hasUnmet)] = own[at]!;
  });
  return rows;
}
