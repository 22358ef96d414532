/** The names of the table's columns, and the format of their numbers. */

import type { SumColumn, TableColumn } from "../../model/table/table_data.ts";
import { isNested, type RowKind } from "../../model/table/table_rows.ts";
import { t } from "../../words/page.ts";
import {
  formatAmount,
  formatBytes,
  formatCount,
  formatDuration,
  formatValue,
} from "../../words/quantities.ts";

/** Names in files, with units: as in `trace.table(by=…)`. */
export const FILE_NAMES: Readonly<Record<SumColumn, string>> = {
  differing: "differing_ops",
  max_abs: "max_abs",
  max_rel: "max_rel",
  calls: "calls",
  self: "self_ns",
  total: "total_ns",
  kernel: "kernel_ns",
  flops: "flops",
  parameters: "parameters",
  parameter_bytes: "parameter_bytes",
  output: "output_bytes",
  saved: "saved_bytes",
};

export function columnLabel(column: TableColumn, kind: RowKind): string {
  if (column === "name") return t(`table.by_${kind}`);
  if (column === "calls" && (kind === "line" || kind === "turn")) return t("table.column_ops");
  return t(`table.column_${column}`);
}

export function columnTitle(column: TableColumn, kind: RowKind): string {
  if (column === "calls") return t(`table.column_calls_title_${kind}`);
  if (column === "total") return t(`table.column_total_title_${isNested(kind) ? "nested" : "op"}`);
  return t(`table.column_${column}_title`);
}

const UNITS: Readonly<Record<SumColumn, "count" | "ns" | "amount" | "B" | "value">> = {
  differing: "count",
  max_abs: "value",
  max_rel: "value",
  calls: "count",
  self: "ns",
  total: "ns",
  kernel: "ns",
  flops: "amount",
  parameters: "amount",
  parameter_bytes: "B",
  output: "B",
  saved: "B",
};
const FORMATS = {
  count: formatCount,
  ns: formatDuration,
  amount: formatAmount,
  B: formatBytes,
  value: formatValue,
};

export function formatSum(column: SumColumn, value: number): string {
  return FORMATS[UNITS[column]](value);
}

/** The exact number, if `formatSum` rounds it. */
export function exactSum(column: SumColumn, value: number): string {
  const unit = UNITS[column];
  if (unit === "value") return String(value);
  return `${formatCount(value)}${unit === "ns" || unit === "B" ? ` ${unit}` : ""}`;
}
