/** The numbers of a table: one column of sums for each thing that is known. */

import type { Trace } from "../../trace/trace.ts";
import { standInsOf } from "../graph/stand_ins.ts";
import { type AmountName, amountsOf } from "./amounts.ts";
import { dtypesOfRows } from "./dtypes.ts";
import { opTimes } from "./op_times.ts";
import { sumParameters } from "./parameters.ts";
import { type Mask, placesWithOps, type Sums, sumRows, sumTotals } from "./sums.ts";
import type { TableRows } from "./table_rows.ts";

export const SUM_COLUMNS = [
  "calls",
  "self",
  "total",
  "kernel",
  "flops",
  "parameters",
  "parameter_bytes",
  "output",
  "saved",
] as const;
export type SumColumn = (typeof SUM_COLUMNS)[number];
export type TableColumn = "name" | SumColumn | "dtype";

export interface TableData {
  readonly rows: TableRows;
  /** Which ops or grad nodes are counted; all if undefined. */
  readonly mask: Mask;
  /** Rows with a counted op, and if all are counted also layers without ops. */
  readonly shown: Int32Array;
  /** The columns that have at least one known value, in their order. */
  readonly sums: ReadonlyMap<SumColumn, Sums>;
  /** By row, see `dtypeNames`; undefined for grad nodes. */
  readonly dtypes: Int32Array | undefined;
}

/** @param found the ops that a search found; all if undefined */
export function tableData(trace: Trace, rows: TableRows, found: Mask): TableData {
  const { kind } = rows;
  const mask = kind === "node" && found ? nodesOf(trace, found) : found;
  const sums = new Map<SumColumn, Sums>();
  const put = (name: SumColumn, column: Sums | undefined): void => {
    if (column && column.totalKnown > 0) sums.set(name, column);
  };
  const add = (name: AmountName, isNested: boolean): void => {
    const amounts = amountsOf(trace, kind === "node" ? "node" : "op", name);
    put(name, amounts && sumRows(rows, amounts, mask, isNested));
  };
  const counted = sumRows(rows, ones(rows.rowOf.length), mask, true);
  if (kind !== "node") {
    put("calls", callsOf(trace, rows, mask));
    add("self", false);
    put("total", totalsOf(trace, rows, mask));
  }
  add("kernel", true);
  add("flops", true);
  if (kind !== "node") {
    const { parameters, bytes } = sumParameters(trace, rows, mask);
    put("parameters", parameters);
    put("parameter_bytes", bytes);
    add("output", true);
    add("saved", true);
  }
  // A layer without ops was called all the same.
  const hasIdleRows = kind === "layer" && !mask;
  return {
    rows,
    mask,
    sums,
    shown: rowsThat(rows.count, (row) => counted.values[row]! > 0 || hasIdleRows),
    dtypes: kind === "node" ? undefined : dtypesOfRows(trace, rows, mask),
  };
}

/** Total times: of nested rows the self times of all ops inside them. */
function totalsOf(trace: Trace, rows: TableRows, mask: Mask): Sums {
  const { self_ns, total_ns, around } = opTimes(trace);
  return rows.places ? sumRows(rows, self_ns, mask, true) : sumTotals(rows, total_ns, around, mask);
}

/** How often layers were called, else how many ops ran; undefined where that is always one. */
function callsOf(trace: Trace, rows: TableRows, mask: Mask): Sums | undefined {
  const { ops: weights } = standInsOf(trace);
  if (rows.kind === "each" && !weights) return undefined;
  const ops = sumRows(rows, weights ?? ones(trace.opCount), mask, rows.kind === "turn");
  if (rows.kind !== "layer") return ops;
  const values = Float64Array.from(placesWithOps(rows, mask));
  return {
    ...ops,
    values,
    known: new Int32Array(rows.count).fill(1),
    total: values.reduce((sum, calls) => sum + calls, 0),
  };
}

/** Grad nodes whose ops were found. */
function nodesOf(trace: Trace, ops: Uint8Array): Uint8Array {
  return Uint8Array.from(trace.pairedOps, (op) => (op >= 0 ? ops[op]! : 0));
}

function ones(count: number): Uint8Array {
  return new Uint8Array(count).fill(1);
}

function rowsThat(count: number, isMeant: (row: number) => boolean): Int32Array {
  const rows = new Int32Array(count);
  let length = 0;
  for (let row = 0; row < count; row++) if (isMeant(row)) rows[length++] = row;
  return rows.subarray(0, length);
}
