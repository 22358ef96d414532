/** What the columns of the table are called, and how their numbers are written. */

import type { SumColumn, TableColumn } from "../../model/table/table_data.ts";
import { isNested, type RowKind } from "../../model/table/table_rows.ts";
import { t } from "../../words/page.ts";
import { formatAmount, formatBytes, formatCount, formatDuration } from "../../words/quantities.ts";

/** Names in files, with units: as in `trace.table(by=…)`. */
export const FILE_NAMES: Readonly<Record<SumColumn, string>> = {
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

export function formatSum(column: SumColumn, value: number): string {
  switch (column) {
    case "calls":
      return formatCount(value);
    case "self":
    case "total":
    case "kernel":
      return formatDuration(value);
    case "flops":
    case "parameters":
      return formatAmount(value);
    default:
      return formatBytes(value);
  }
}

/** The whole number, where `formatSum` rounds it. */
export function exactSum(column: SumColumn, value: number): string {
  switch (column) {
    case "self":
    case "total":
    case "kernel":
      return `${formatCount(value)} ns`;
    case "parameter_bytes":
    case "output":
    case "saved":
      return `${formatCount(value)} B`;
    default:
      return formatCount(value);
  }
}
