/** The numbers of a table: one column of sums for each thing that is known. */

import type { Trace } from "../../trace/trace.ts";
import { standInsOf } from "../graph/stand_ins.ts";
import { allSpans, type Spans, spanOfOps } from "../time/spans.ts";
import { type AmountName, type Amounts, amountsOfNodes, amountsOfSpans } from "./amounts.ts";
import { dtypesOfRows } from "./dtypes.ts";
import { countCalls, type Mask, type Sums, sumParameters, sumRows } from "./sums.ts";
import { isNested, type TableRows } from "./table_rows.ts";

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
  /** Which items are counted; all if undefined. */
  readonly mask: Mask;
  /** Rows with a counted item, and if all are counted also layers without any. */
  readonly shown: Int32Array;
  /** The columns of which the trace has at least one value, in their order. */
  readonly sums: ReadonlyMap<SumColumn, Sums>;
  /** By row, see `dtypeNames`. */
  readonly dtypes: Int32Array;
}

/** @param found the ops that a search found; all if undefined */
export function tableData(trace: Trace, rows: TableRows, found: Mask): TableData {
  const { kind } = rows;
  const isOfNodes = kind === "node";
  const spans = allSpans(trace);
  const opOf = isOfNodes ? trace.pairedOps : spans.op;
  const mask = found && new Uint8Array(rows.rowOf.length).map((_, item) => found[opOf[item]!] ?? 0);
  const sums = new Map<SumColumn, Sums>();
  // A search that finds nothing leaves the columns as they are.
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
    put("calls", callsOf(trace, spans, rows, mask));
    add("self", amountsOf("self"), false);
    add("total", amountsOf("self"));
    add("kernel", amountsOf("kernel"));
    add("flops", amountsOf("flops"));
    const counted = sumRows(rows, parametersKnown(trace, spans), mask, true);
    const read = sumParameters(trace, rows, mask, spanOfOps(trace), counted);
    put("parameters", read.parameters);
    put("parameter_bytes", read.parameter_bytes);
    add("output", amountsOf("output"));
    add("saved", amountsOf("saved"));
  }
  const ones = { values: new Uint8Array(rows.rowOf.length).fill(1) };
  const { values: inside } = sumRows(rows, ones, mask, isNested(kind));
  // A layer without ops was called all the same.
  const hasIdleRows = kind === "layer" && !mask;
  const all = new Int32Array(rows.count).map((_, row) => row);
  return {
    rows,
    mask,
    sums,
    shown: hasIdleRows ? all : all.filter((row) => inside[row]! > 0),
    dtypes: dtypesOfRows(trace, rows, mask),
  };
}

function hasKnown({ values }: Amounts): boolean {
  for (let item = 0; item < values.length; item++) if (values[item]! >= 0) return true;
  return false;
}

/** How often layers were called, else how many ops ran; undefined where that is always one. */
function callsOf(trace: Trace, spans: Spans, rows: TableRows, mask: Mask): Sums | undefined {
  const { ops: weights } = standInsOf(trace);
  if (rows.kind === "each" && !weights) return undefined;
  const values = spans.op.map((op) => (op >= 0 && weights ? weights[op]! : 1));
  const ops = sumRows(rows, { values }, mask, false);
  if (rows.kind !== "layer") return ops;
  const calls = countCalls(rows, mask);
  if (rows.rest !== undefined) calls[rows.rest] = ops.values[rows.rest]!;
  const known = new Int32Array(rows.count).fill(1);
  return { ...ops, values: calls, known, total: calls.reduce((sum, each) => sum + each, 0) };
}

/** What one stored op stands for has parameters that were not stored; backward calls read none. */
function parametersKnown(trace: Trace, { op }: Spans): Amounts {
  const { ops: weights } = standInsOf(trace);
  return { values: op.map((key) => (key >= 0 && (weights?.[key] ?? 1) > 1 ? -1 : 0)) };
}
