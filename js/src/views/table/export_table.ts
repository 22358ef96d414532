/** The rows that the table shows, for the clipboard and for files. */

import type { Cell } from "../../dom/table_text.ts";
import { dtypeNames } from "../../model/table/dtypes.ts";
import type { Sums } from "../../model/table/sums.ts";
import type { SumColumn } from "../../model/table/table_data.ts";
import type { RowKind } from "../../model/table/table_rows.ts";
import type { TableState } from "../../model/table/table_state.ts";
import type { Trace } from "../../trace/trace.ts";
import { FILE_NAMES } from "./columns.ts";
import { rowText } from "./labels.ts";

/** Unrounded numbers, in the units of their column names; empty if unknown. */
export function tableCells(trace: Trace, state: TableState): Cell[][] {
  const { data, order } = state;
  const { rows, sums, dtypes } = data;
  const hasUnknown = sums.get("flops")?.unknown.some((count) => count > 0) === true;
  const names = [
    rows.kind === "each" ? "op" : rows.kind,
    "note",
    ...Array.from(sums.keys(), (column) => FILE_NAMES[column]),
    ...(hasUnknown ? ["unknown_flops"] : []),
    "dtype",
  ];
  return [
    names,
    ...Array.from(order, (row): Cell[] => {
      const { name, note } = rowText(trace, rows, row);
      return [
        name,
        note,
        ...Array.from(sums, ([column, of]) => cellOf(rows.kind, column, of, row)),
        ...(hasUnknown ? [sums.get("flops")!.unknown[row]!] : []),
        dtypeNames(trace, dtypes[row]!),
      ];
    }),
  ];
}

/** The text of a cell, as in `trace.table(by=…)`: empty if unknown, and 0 if nothing ran. */
function cellOf(
  kind: RowKind,
  column: SumColumn,
  { values, known, unknown }: Sums,
  row: number,
): Cell {
  const isOfSome = column === "output" || column === "saved";
  const isNone = !known[row] && (isOfSome || (kind === "node" && column.startsWith("parameter")));
  return isNone || (!values[row] && unknown[row]) ? "" : values[row]!;
}
