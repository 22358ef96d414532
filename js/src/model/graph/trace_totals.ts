/** Sums and lookups over a whole trace. */

import { kept } from "../../trace/kept.ts";
import { type ColumnName, TENSOR_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";

const PARAMETER = TENSOR_KINDS.indexOf("parameter");

export interface TraceTotals {
  /** Host time of all ops; the time of a PyLayer's inner ops is counted once. */
  readonly duration_ns: number;
  readonly threadCount: number;
  /** By tensor: what the tensor became when it was modified in place, -1 where it was not. */
  readonly nextVersion: Int32Array;
  /** By tensor: its row of `value_stats`, -1 where its values were not recorded. */
  readonly valueStat: Int32Array;
}

/** Each value is computed at its first use. */
export function traceTotals(trace: Trace): TraceTotals {
  return {
    get duration_ns() {
      return kept(trace, "duration", () => durationOf(trace, () => true));
    },
    get threadCount() {
      return kept(trace, "threads", () => new Set(trace.table("ops").column("thread")).size);
    },
    get nextVersion() {
      return kept(trace, "next versions", () => rowsByTensor(trace, "tensors", "previous"));
    },
    get valueStat() {
      return kept(trace, "value stats", () => rowsByTensor(trace, "value_stats", "tensor"));
    },
  };
}

/** The row that names each tensor in a column, the last of several; -1 for none. */
function rowsByTensor<T extends "tensors" | "value_stats">(
  trace: Trace,
  table: T,
  column: ColumnName<T>,
): Int32Array {
  const rows = new Int32Array(trace.table("tensors").length).fill(-1);
  const tensor = trace.table(table).column(column);
  for (let row = 0; row < tensor.length; row++) {
    if (tensor[row]! >= 0) rows[tensor[row]!] = row;
  }
  return rows;
}

/** Host time of the counted ops, without PyLayers' own ops: their inner ops are counted instead. */
export function durationOf(trace: Trace, isCounted: (op: number) => boolean): number {
  const duration_ns = trace.table("ops").column("duration_ns");
  const isPyLayer = trace.table("ops").column("is_pylayer");
  let sum_ns = 0;
  for (let op = 0; op < trace.opCount; op++) {
    if (!isPyLayer[op] && isCounted(op)) sum_ns += duration_ns[op]!;
  }
  return sum_ns;
}

/** Parameters among the tensors that the given ops read: how many and how large. */
export function parametersOf(
  trace: Trace,
  isCounted: (op: number) => boolean,
): { count: number; bytes: number } {
  const op = trace.table("uses").column("op");
  const tensorOf = trace.table("uses").column("tensor");
  const kind = trace.table("tensors").column("kind");
  const isSeen = new Uint8Array(kind.length);
  for (let use = 0; use < op.length; use++) {
    const tensor = tensorOf[use]!;
    if (tensor < 0 || kind[tensor] !== PARAMETER || isSeen[tensor] || op[use]! < 0) continue;
    isSeen[tensor] = isCounted(op[use]!) ? 1 : 0;
  }
  const names = new Set<string>();
  let bytes = 0;
  for (let tensor = 0; tensor < isSeen.length; tensor++) {
    if (!isSeen[tensor]) continue;
    // An optimizer's step makes a new row for the same parameter.
    const name = trace.textAt("tensors", "path", tensor) || trace.textAt("tensors", "name", tensor);
    if (names.has(name)) continue;
    names.add(name);
    bytes += trace.at("tensors", "bytes", tensor);
  }
  return { count: names.size, bytes };
}
