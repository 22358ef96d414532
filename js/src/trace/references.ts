/** Checks, when a column is read, that its keys and its positions in `strings` exist. */

import { t } from "../words/loader.ts";
import type { Column } from "./columns.ts";
import { type ColumnType, TABLES, type TableName } from "./protocol.ts";

/** Tables with one row for each row of another table. */
export const PARALLEL_TABLES = {
  op_groups: "ops",
  grad_node_groups: "grad_nodes",
  stack_frames: "stacks",
  layer_names: "layers",
  op_costs: "ops",
  grad_node_costs: "grad_nodes",
} as const satisfies Partial<Record<TableName, TableName>>;

/**
 * Columns of keys into their own table that always refer to an earlier row. Their chains therefore
 * end.
 */
const EARLIER_COLUMNS: Partial<Record<TableName, string>> = { stacks: "caller", groups: "parent" };

/** The error for a payload that is cut short or altered. */
export function damaged(cause?: unknown): Error {
  return new Error(t("damaged"), { cause });
}

/** A range of values from `lowest` to `end`, `end` excluded. */
export interface ValueRange {
  readonly lowest: number;
  readonly end: number;
  /** Whether each value is the number of an earlier row, or none. */
  readonly isEarlier?: boolean;
}

/**
 * The values that are allowed in a table's columns, for columns that refer to something.
 *
 * @param lengthOf how many rows each table has
 */
export function valueRanges(
  name: TableName,
  lengthOf: (name: string) => number,
  stringCount: number,
): Record<string, ValueRange> {
  const ranges: Record<string, ValueRange> = {};
  for (const [column, type] of Object.entries<ColumnType>(TABLES[name])) {
    const [kind, target] = type.split(":") as [string, string];
    if (kind === "str") {
      ranges[column] = { lowest: 0, end: stringCount };
    } else if (kind === "enum") {
      ranges[column] = { lowest: 0, end: Number(target) };
    } else if (kind === "key") {
      const isEarlier = EARLIER_COLUMNS[name] === column;
      ranges[column] = { lowest: -1, end: lengthOf(target), isEarlier };
    }
  }
  return ranges;
}

/** @throws Error with a sentence for the user, if a value of a column is out of its range */
export function checkRange(column: Column, name: string, range: ValueRange): void {
  const { lowest, end, isEarlier } = range;
  for (let row = 0; row < column.length; row++) {
    const value = column[row]!;
    if (value < lowest || value >= (isEarlier ? row : end)) {
      throw damaged(new RangeError(`${name} points nowhere`));
    }
  }
}
