/** Totals and lookups for a whole trace. */

import { kept } from "../../trace/kept.ts";
import type { ColumnName } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { allSpans } from "../time/spans.ts";
import { parameterReads } from "./parameter_reads.ts";

export interface TraceTotals {
  /** The host time of all ops and backward calls. */
  readonly duration_ns: number;
  /** For each tensor: its next version, after an in-place modification; -1 for none. */
  readonly nextVersion: Int32Array;
  /** For each tensor: its row of `value_stats`, -1 if the values were not recorded. */
  readonly valueStat: Int32Array;
}

/** Each value is computed on first use. */
export function traceTotals(trace: Trace): TraceTotals {
  return {
    get duration_ns() {
      return kept(trace, "duration", () =>
        durationOf(
          trace,
          () => true,
          () => true,
        ),
      );
    },
    get nextVersion() {
      return kept(trace, "next versions", () => rowsByTensor(trace, "tensors", "previous"));
    },
    get valueStat() {
      return kept(trace, "value stats", () => rowsByTensor(trace, "value_stats", "tensor"));
    },
  };
}

/** For each tensor: the last row of `table` whose `column` has the tensor, -1 for none. */
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

/** The host time of ops and backward calls. What ops inside them took counts with these ops. */
export function durationOf(
  trace: Trace,
  isCounted: (op: number) => boolean,
  isCallCounted: (call: number) => boolean,
): number {
  const { op, call, self_ns } = allSpans(trace);
  const isIn = (at: number) => (op[at]! < 0 ? isCallCounted(call[at]!) : isCounted(op[at]!));
  return self_ns.reduce((sum_ns, self_ns, at) => (isIn(at) ? sum_ns + self_ns : sum_ns), 0);
}

/** How many parameters the counted ops read, each once, and how large these are. */
export function parametersOf(
  trace: Trace,
  isCounted: (op: number) => boolean,
): { count: number; bytes: number } {
  const { ops, numbers, bytes } = parameterReads(trace);
  const read = new Set(numbers.filter((_, at) => isCounted(ops[at]!)));
  return { count: read.size, bytes: [...read].reduce((sum, each) => sum + bytes[each]!, 0) };
}
