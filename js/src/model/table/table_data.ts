/** The numbers of a table: a column of sums for each known quantity. */

import type { Trace } from "../../trace/trace.ts";
import { comparisonOf } from "../graph/comparison.ts";
import { allSpans, type Spans, spanOfOps } from "../time/spans.ts";
import { type AmountName, type Amounts, amountsOfNodes, amountsOfSpans } from "./amounts.ts";
import { dtypesOfRows } from "./dtypes.ts";
import { countCalls, type Mask, type Sums, sumParameters, sumRows } from "./sums.ts";
import { isNested, type TableRows } from "./table_rows.ts";

export const SUM_COLUMNS = [
  "differing",
  "max_abs",
  "max_rel",
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
/** These columns have the largest value of the ops in a row, instead of their sum. */
const LARGEST_COLUMNS = ["max_abs", "max_rel"] as const;
export function isLargest(column: SumColumn): boolean {
  return (LARGEST_COLUMNS as readonly SumColumn[]).includes(column);
}
export type SumColumn = (typeof SUM_COLUMNS)[number];
export type TableColumn = "name" | SumColumn | "dtype";

export interface TableData {
  readonly rows: TableRows;
  /** The items that are counted; undefined for all. */
  readonly mask: Mask;
  /** Rows with a counted item. Without a mask, also layers without items. */
  readonly shown: Int32Array;
  /** The columns for which the trace has at least one value, in order. */
  readonly sums: ReadonlyMap<SumColumn, Sums>;
  /** For each row, a number for `dtypeNames`. */
  readonly dtypes: Int32Array;
}

/** @param found the ops that a search found; undefined for all */
export function tableData(trace: Trace, rows: TableRows, found: Mask): TableData {
  const { kind } = rows;
  const isOfNodes = kind === "node";
  const spans = allSpans(trace);
  const opOf = isOfNodes ? trace.pairedOps : spans.op;
  const mask = found && maskOf(found, opOf, rows.rowOf.length);
  const sums = new Map<SumColumn, Sums>();
  // If a search has no results, keep the columns.
  const put = (name: SumColumn, column: Sums | undefined): void => {
    if (column && (column.totalKnown > 0 || mask)) sums.set(name, column);
  };
  const add = (name: SumColumn, amounts: Amounts | undefined, isInside = true): void => {
    if (amounts && (!mask || hasKnown(amounts))) put(name, sumRows(rows, amounts, mask, isInside));
  };
  if (isOfNodes) {
    const names = ["calls", "kernel", "flops", "parameters", "parameter_bytes", "saved"] as const;
    for (const name of names) add(name, amountsOfNodes(trace, name));
  } else {
    const amountsOf = (name: AmountName) => amountsOfSpans(trace, spans, name);
    const comparison = comparisonOf(trace);
    if (comparison) {
      const { kinds, rowOf, errors } = comparison;
      const ofOps = (value: (op: number) => number): Amounts => ({
        values: Float64Array.from(spans.op, (op) => (op < 0 ? Number.NaN : value(op))),
      });
      const differs = ofOps((op) => (Number.isNaN(kinds[op]!) ? -1 : Math.min(kinds[op]!, 1)));
      put("differing", sumRows(rows, differs, mask, true));
      for (const name of LARGEST_COLUMNS) {
        const values = ofOps((op) => errors[name][rowOf[op]!] ?? Number.NaN);
        put(name, sumRows(rows, values, mask, true, Math.max));
      }
    }
    put("calls", callsOf(spans, rows, mask));
    add("self", amountsOf("self"), false);
    if (rows.places) add("total", amountsOf("self"));
    else put("total", sums.get("self"));
    add("kernel", amountsOf("kernel"));
    add("flops", amountsOf("flops"));
    const counted = sumRows(rows, { values: new Float64Array(spans.length) }, mask, true);
    const read = sumParameters(trace, rows, mask, spanOfOps(trace), counted);
    put("parameters", read.parameters);
    put("parameter_bytes", read.parameter_bytes);
    add("output", amountsOf("output"));
    add("saved", amountsOf("saved"));
  }
  // A layer without ops was also called.
  const hasIdleRows = kind === "layer" && !mask;
  return {
    rows,
    mask,
    sums,
    shown: shownRows(rows, mask, hasIdleRows),
    dtypes: dtypesOfRows(trace, rows, mask),
  };
}

function maskOf(found: Uint8Array, opOf: ArrayLike<number>, count: number): Uint8Array {
  const mask = new Uint8Array(count);
  for (let item = 0; item < count; item++) if (opOf[item]! >= 0) mask[item] = found[opOf[item]!]!;
  return mask;
}

function shownRows(rows: TableRows, mask: Mask, hasIdleRows: boolean): Int32Array {
  const isShown = new Uint8Array(rows.count);
  if (hasIdleRows) isShown.fill(1);
  else if (isNested(rows.kind)) {
    const ones = { values: new Uint8Array(rows.rowOf.length).fill(1) };
    sumRows(rows, ones, mask, true).values.forEach((inside, row) => {
      if (inside) isShown[row] = 1;
    });
  } else {
    rows.rowOf.forEach((row, item) => {
      if (row >= 0 && (!mask || mask[item])) isShown[row] = 1;
    });
  }
  const shown = new Int32Array(rows.count);
  let count = 0;
  for (let row = 0; row < isShown.length; row++) if (isShown[row]) shown[count++] = row;
  return shown.subarray(0, count);
}

function hasKnown({ values }: Amounts): boolean {
  for (let item = 0; item < values.length; item++) if (values[item]! >= 0) return true;
  return false;
}

/** How often layers were called, or how many ops ran; undefined if this is always one. */
function callsOf(spans: Spans, rows: TableRows, mask: Mask): Sums | undefined {
  if (rows.kind === "each") return undefined;
  const ops = sumRows(rows, { values: new Float64Array(spans.length).fill(1) }, mask, false);
  if (rows.kind !== "layer") return ops;
  const calls = countCalls(rows, mask);
  if (rows.rest !== undefined) calls[rows.rest] = ops.values[rows.rest]!;
  const known = new Int32Array(rows.count).fill(1);
  return { ...ops, values: calls, known, total: calls.reduce((sum, each) => sum + each, 0) };
}
